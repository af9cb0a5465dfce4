/** A text in several dialects, and the words that must be on its page or in its list of losses. */
export interface DialectText {
  markdown: string;
  words: readonly string[];
}

type Numbers = () => number;
type Word = () => string;

/** Pieces of Markdown of one or several lines, each with words of its own. */
const PIECES: readonly ((word: Word) => string)[] = [
  (w) => `%%${w()} ${w()}%%`,
  (w) => `%%\n${w()}\n\n- ${w()}\n%%`,
  (w) => `${w()} %%${w()}%% ${w()}`,
  (w) => `:::tip ${w()}\n${w()}\n:::`,
  (w) => `:::note[${w()}]\n\n${w()} **${w()}**\n\n:::`,
  (w) => `::::info\n:::danger\n${w()}\n:::\n${w()}\n::::`,
  (w) => `::: {.warning}\n${w()}\n:::`,
  (w) => `:::tip\n${w()}`,
  (w) => `!!! note "${w()}"\n    ${w()}\n\n    ${w()}`,
  (w) => `??? tip\n    ${w()}`,
  (w) => `=== "${w()}"\n\n    ${w()}\n\n=== "${w()}"\n\n    ${w()}`,
  (w) => `{/* ${w()} */}`,
  (w) => `{/* ${w()} */} {/* ${w()} */} ${w()}`,
  (w) => `${w()} {/* ${w()}\n${w()} */} ${w()}`,
  (w) => `import ${w()} from '${w()}';`,
  (w) => `export const ${w()} = {\n  ${w()}: 1,\n};`,
  (w) => `<Foo ${w()}={'${w()}'} />`,
  (w) => `<Foo a={${w()}}>${w()}</Foo>`,
  (w) => `<Tabs.Item value="${w()}">\n\n${w()}\n\n</Tabs.Item>`,
  (w) => `{{% note "${w()}" %}}\n${w()}\n{{% /note %}}`,
  (w) => `{{< hint info >}}\n${w()}\n{{< /hint >}}`,
  (w) => `{% hint style="info" %}\n${w()}\n{% endhint %}`,
  (w) =>
    `{% tabs %}\n{% tab title="${w()}" %}\n${w()}\n{% endtab %}\n\n{% tab title="${w()}" %}\n- ${w()}\n{% endtab %}\n{% endtabs %}`,
  (w) => `{% file src="${w()}.pdf" %}\n${w()}\n{% endfile %}`,
  (w) => `{% embed url="https://example.com/${w()}" %}`,
  (w) => `{% content-ref url="${'a'}.md" %}\n[${w()}](${w()}.md)\n{% endcontent-ref %}`,
  (w) => `{% hint style="danger" %}${w()}{% endhint %}`,
  (w) => `{% step %}${w()} **${w()}**{% endstep %}`,
  (w) => `{% file src="${w()}.pdf" %}${w()}{% endfile %}`,
  (w) => `{% if ${w()} %}\n${w()}\n{% endif %}`,
  (w) => `[${w()}]({{< ref "${w()}.md" >}}) ${w()}`,
  (w) => `==${w()}== and ${w()} ^${w()}`,
  (w) => `[[${w()}|${w()}]] ![[${w()}]]`,
  (w) => `> [!NOTE] ${w()}\n> ${w()}`,
  (w) => `${w()}\n: ${w()}\n: ${w()}`,
  (w) => `\`${w()}\n%%${w()}%%\``,
  (w) => `<!-- ${w()} <Foo a={${w()}}/> ${w()} -->`,
  (w) => `<a title="{/* ${w()} */} %%${w()}%%">${w()}</a>`,
  (w) => `[${w()}](https://example.com/%%${w()}%%) https://example.com/%%${w()}%%`,
  (w) => `![${w()} %%${w()}%%](${w()}.png)`,
  (w) => `![${w()}](${w()}.png =200x100) ${w()}`,
  (w) => `![${w()}](${w()}.png "${w()} =x100")`,
  (w) => `$${w()} %%${w()}%%$ ${w()}`,
  (w) => `| ${w()} | %%${w()}%% |\n| - | - |\n| {/* ${w()} */} | ${w()} |`,
  (w) => `# ${w()} %%${w()}%%`,
  (w) => `\`\`\`js\n${w()}\n\`\`\``,
  (w) => `\`\`\`\`\n\`\`\`\n%%${w()}%%\n\`\`\`\``,
  (w) => `$$\n%% ${w()}\n${w()} %% ${w()}\n$$`,
  (w) => w(),
];

const CONTAINERS: readonly ((text: string, word: Word) => string)[] = [
  (text) => text,
  (text) => text,
  (text) => indented('    ', text),
  (text, w) => `- ${w()}\n\n${indented('      ', text)}`,
  (text) => `- ${text.replace(/\n/g, '\n  ')}`,
  (text) => `1. ${text.replace(/\n/g, '\n   ')}`,
  (text) => text.replace(/^/gm, '> '),
  (text) => `${text.replace(/^/gm, '> ')}`.replace(/^> (```+|\$\$)$/gm, '>$1'),
  (text) => `~~~\n${text}\n~~~`,
  (text) => inHtml('pre', text),
  (text, w) => inHtml('div', `${w()}\n${text}`),
  (text) => `<details>\n\n${text}\n\n</details>`,
  (text) => `$$\n${text}\n$$`,
  (text, w) => `!!! warning "${w()}"\n\n${text.replace(/^/gm, '    ')}`,
  (text, w) => `::::tip ${w()}\n\n${text}\n\n::::`,
  (text, w) => `${w()}\n${text}`,
];

/**
 * Indents a text, unless it has a fence: in indented code the scan for losses would take the fence for a real one, and
 * miss all later losses.
 */
function indented(by: string, text: string): string {
  return /```|~~~/.test(text) ? text : text.replace(/^/gm, by);
}

/**
 * Wraps a text in an HTML tag, unless it has a fence: line by line, a tag after a fence looks like code, so its losses
 * are not listed.
 */
function inHtml(name: string, text: string): string {
  return /```|~~~/.test(text) ? text : `<${name}>\n${text}\n</${name}>`;
}

const GAPS = ['\n\n', '\n\n', '\n'];

/** Builds a text of some pieces in containers. Equal numbers make equal texts. */
export function dialectText(numbers: Numbers): DialectText {
  const words: string[] = [];
  const word = () => {
    const made = `q${Math.floor(numbers() * 1e6)
      .toString()
      .replace(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))}`;
    words.push(made);
    return made;
  };
  const pick = <T>(list: readonly T[]): T => list[Math.floor(numbers() * list.length)] as T;
  let markdown = '';
  let last = '<';
  const blocks = 1 + Math.floor(numbers() * 5);
  for (let i = 0; i < blocks; i += 1) {
    let text = pick(PIECES)(word);
    const depth = Math.floor(numbers() * 3);
    for (let level = 0; level < depth; level += 1) text = pick(CONTAINERS)(text, word);
    // HTML extends to the next blank line, even across an apparent fence.
    markdown += (i === 0 ? '' : last.includes('<') ? '\n\n' : pick(GAPS)) + text;
    last = text;
  }
  return { markdown, words };
}
