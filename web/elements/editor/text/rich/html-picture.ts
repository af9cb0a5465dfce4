interface HtmlPicture {
  src: string;
  alt: string;
  caption: string;
}

const AROUND = /^(?:BODY|FIGURE|FIGCAPTION|P|DIV|CENTER|A|PICTURE|SOURCE|IMG|BR|EM|STRONG|B|I|CODE|SPAN)$/;

/** Returns the picture and caption of a block of HTML such as `<figure><img></figure>`; undefined for other HTML. */
export function pictureIn(text: string): HtmlPicture | undefined {
  if (!/<img\s/i.test(text)) return undefined;
  // A document without a window loads and runs nothing.
  const { body } = new DOMParser().parseFromString(text, 'text/html');
  if ([...body.querySelectorAll('*')].some(({ tagName }) => !AROUND.test(tagName))) return undefined;
  const [image, another] = body.querySelectorAll('img');
  const src = image?.getAttribute('src') ?? '';
  if (!image || another || src === '') return undefined;
  const caption = body.querySelector('figcaption')?.textContent?.trim() ?? '';
  body.querySelector('figcaption')?.remove();
  return (body.textContent ?? '').trim() === '' ? { src, alt: image.alt, caption } : undefined;
}
