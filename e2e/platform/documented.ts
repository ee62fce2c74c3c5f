/** The shell commands of the documentation, as written. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './platform.js';

/**
 * The blocks after `<!-- tested: name -->` in the README, the guides and the examples, in order.
 *
 * @throws Error if there is no such block
 */
export function documentedBlocks(name: string): string[] {
  const pages = ['README.md', ...globSync(['docs/*.md', 'examples/*/README.md'], { cwd: ROOT })].map((file) =>
    readFileSync(join(ROOT, file), 'utf8'),
  );
  const marked = new RegExp(`<!-- tested: ${name} -->\\s*\`\`\`bash\\n([\\s\\S]*?)\`\`\``, 'g');
  const blocks = pages.flatMap((page) => [...page.matchAll(marked)].map(([, block]) => block!));
  if (blocks.length === 0) throw new Error(`No document has a block marked "tested: ${name}".`);
  return blocks;
}
