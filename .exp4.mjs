import {unified} from 'unified'
import remarkParse from 'remark-parse'; import remarkGfm from 'remark-gfm'
import fs from 'node:fs'
const docs={setext:'Heading\n=======\n\nSome text here.\n\n'.repeat(8000), tables:('| a | b |\n|---|---|\n'+'| cell one | cell two |\n'.repeat(20)+'\n').repeat(500), emph:'*a* **b** `c` [d](e) '.repeat(10000), para:('word *x* word `y`\n'.repeat(5)+'\n').repeat(2500), lists:'- item one\n  - nested\n- two\n\n'.repeat(8000)}
for(const [k,d] of Object.entries(docs)){const p=unified().use(remarkParse).use(remarkGfm);const r=[];for(const f of [0.25,0.5,1]){const x=d.slice(0,d.length*f);const t=performance.now();p.parse(x);r.push((performance.now()-t).toFixed(0))}console.log(k,d.length,r.join(' '))}
const dir='/work/shared/corpora/tldr/common/'; const files=fs.readdirSync(dir).map(f=>fs.readFileSync(dir+f,'utf8'))
for(let i=0;i<3;i++){const p=unified().use(remarkParse).use(remarkGfm).freeze();const t=performance.now();for(const x of files)p.parse(x);console.log('tldr',((performance.now()-t)/600).toFixed(3))}
