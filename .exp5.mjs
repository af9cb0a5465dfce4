import fs from 'node:fs'
import {unified} from 'unified'
import remarkParse from 'remark-parse'; import remarkGfm from 'remark-gfm'; import remarkRehype from 'remark-rehype'; import rehypeRaw from 'rehype-raw'; import rehypeStringify from 'rehype-stringify'
for (const tf of [false,true]) { const p=unified().use(remarkParse).use(remarkGfm).use(remarkRehype,{allowDangerousHtml:true}).use(rehypeRaw,{tagfilter:tf}).use(rehypeStringify)
 for (const s of ['a <script> b\n\nrest *x*','a <title> b\n\nrest *x*','<title>\n\n# H\n\nrest','<xmp>\n\n# H\n\nrest','<plaintext>\n\n# H\n\nrest','a <plaintext> b\n\n# H','a <textarea> b\n\n# H\n\nc','a <!-- b\n\n# H','<svg>\n\n# H\n\n</svg>\n\nrest','a <svg> b\n\n# H','a <math> b\n\n# H','<noscript>\n\n# H','a <style> b\n\n# H', '<frameset>\n\n# H', '<select>\n\n# H\n\ntext','a <template> b\n\n# H','<table>\n\n# H\n\ntext'])
 console.log(tf,JSON.stringify(s),JSON.stringify(String(p.processSync(s)))) }
let t; const parse=unified().use(remarkParse).use(remarkGfm)
const q=fs.readFileSync('/work/shared/corpora/documents/deep-quote-100k.md','utf8'); 
for (const n of [1000,5000,20000]) {t=performance.now(); try{parse.parse('>'.repeat(n)+' x')}catch(e){console.log(e.message)}; console.log('quote',n,performance.now()-t)}
