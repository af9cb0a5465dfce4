import fs from 'node:fs'
import {unified} from 'unified'
import remarkParse from 'remark-parse'; import remarkGfm from 'remark-gfm'; import remarkFrontmatter from 'remark-frontmatter';
const dir='/work/shared/corpora/tldr/common/'; const files=fs.readdirSync(dir).map(f=>fs.readFileSync(dir+f,'utf8'))
const all=files.join('\n').repeat(4)
for (const kb of [100,200,400]) { const big=all.slice(0,kb*1024)
for (const [n,p] of [['plain',unified().use(remarkParse)],['front',unified().use(remarkParse).use(remarkFrontmatter)],['gfm',unified().use(remarkParse).use(remarkGfm)]]) { const t=performance.now(); p.parse(big); console.log(kb,n,(performance.now()-t).toFixed(0)) } }
