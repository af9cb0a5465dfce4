// Plain JavaScript for old versions: a Node.js that cannot run the rest can still print this message.
const { node } = process.versions;
const [major = 0, minor = 0] = node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 7)) {
  console.error(
    `Ibid cannot start: Node.js ${node} is too old; install Node.js 24 (https://nodejs.org), then try again.`,
  );
  process.exit(1);
}
