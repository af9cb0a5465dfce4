import assert from 'node:assert/strict';
import { test } from 'node:test';
import { htmlToMarkdown } from './html.ts';

/** Wraps a body in the HTML that Google Docs exports. */
const exported = (body: string, title = '') =>
  `<html><head><meta content="text/html; charset=UTF-8" http-equiv="content-type">${title}<style type="text/css">@import url(https://themes.googleusercontent.com/fonts/css);ol.lst-kix_a-0{list-style-type:none}.c1{font-weight:700}.c2{color:#000;font-weight:400;font-style:italic}.c3{text-decoration:line-through}.c4{vertical-align:super;font-weight:700}.c5{font-weight:400}</style></head><body class="c9 doc-content">${body}</body></html>`;

test('a Google Docs export keeps its title and the styles that its classes define', () => {
  const { markdown, title } = htmlToMarkdown(
    exported(
      '<p class="c5 title" id="h.1"><span class="c1">Plan of the year</span></p>' +
        '<h2 class="c8"><span class="c1">Part</span></h2>' +
        '<p><span class="c5">plain </span><span class="c1">bold</span><span class="c5"> and </span><span class="c2">slanted</span><span> </span><span class="c3">gone</span><span class="c1"> </span><span>x</span><span class="c4">2</span></p>',
    ),
  );
  assert.equal(title, 'Plan of the year');
  assert.match(markdown, /^# Plan of the year\n\n## Part\n\nplain \*\*bold\*\* and \*slanted\* ~~gone~~ x/);
});

test('lists of a Google Docs export nest as shown, and an outer list continues after an inner one', () => {
  const item = (text: string) => `<li class="c1 li-bullet-0"><span class="c5">${text}</span></li>`;
  const { markdown } = htmlToMarkdown(
    exported(
      `<ol class="c6 lst-kix_a-0 start" start="1">${item('one')}</ol><ul class="c6 lst-kix_a-1 start">${item('below one')}</ul>` +
        `<ol class="c6 lst-kix_a-2 start">${item('deep')}</ol><ol class="c6 lst-kix_a-0" start="2">${item('two')}</ol>` +
        `<p><span>between</span></p><ul class="lst-kix_b-0 start">${item('other')}</ul>`,
    ),
  );
  assert.equal(markdown, '1. one\n   - below one\n     1. deep\n2. two\n\nbetween\n\n- other\n');
});

test('links of a Google Docs export lose the redirect, and links of other documents do not change', () => {
  const link =
    '<p><span><a class="c7" href="https://www.google.com/url?q=https://example.com/a?b%3D1%26c%3D2&amp;sa=D&amp;source=editors&amp;ust=1">x</a></span></p>';
  assert.match(htmlToMarkdown(exported(link)).markdown, /\[x\]\(https:\/\/example\.com\/a\?b=1\\&c=2\)/);
  assert.match(htmlToMarkdown(`<html><body>${link}</body></html>`).markdown, /google\.com\/url/);
});
