import fs from 'node:fs'
import {unified} from 'unified'
import remarkParse from 'remark-parse'; import remarkGfm from 'remark-gfm'; import remarkFrontmatter from 'remark-frontmatter'; import remarkRehype from 'remark-rehype'; import rehypeRaw from 'rehype-raw'; import rehypeSanitize from 'rehype-sanitize'; import rehypeSlug from 'rehype-slug'; import rehypeStringify from 'rehype-stringify'
const dir='/work/shared/corpora/tldr/common/'; const files=fs.readdirSync(dir).map(f=>fs.readFileSync(dir+f,'utf8'))
const parse=unified().use(remarkParse).use(remarkGfm).use(remarkFrontmatter).freeze()
const plain=unified().use(remarkParse).freeze()
const full=unified().use(remarkParse).use(remarkGfm).use(remarkFrontmatter).use(remarkRehype,{allowDangerousHtml:true}).use(rehypeRaw).use(rehypeSlug).use(rehypeSanitize).use(rehypeStringify).freeze()
const noraw=unified().use(remarkParse).use(remarkGfm).use(remarkFrontmatter).use(remarkRehype,{allowDangerousHtml:true}).use(rehypeSlug).use(rehypeSanitize).use(rehypeStringify).freeze()
function time(n,f){ for(let r=0;r<3;r++){const t=performance.now(); for(const x of files) f(x); console.log(n,((performance.now()-t)/files.length).toFixed(3),'ms/file')}}
time('plain parse',x=>plain.parse(x)); time('gfm parse',x=>parse.parse(x)); time('full',x=>full.processSync(x)); time('noraw',x=>noraw.processSync(x))
const big=files.join('\n').repeat(4).slice(0,1572864); let t=performance.now(); parse.parse(big); console.log('1.5MiB parse',performance.now()-t); t=performance.now(); noraw.processSync(big); console.log('1.5MiB noraw',performance.now()-t);
