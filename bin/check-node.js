// Plain JavaScript, so that a Node.js which cannot run the rest can say so.
if (!process.features.typescript) {
  const { node } = process.versions;
  console.error(
    `Ibid cannot start: Node.js ${node} does not run TypeScript; install Node.js 24 (https://nodejs.org), then try again.`,
  );
  process.exit(1);
}
