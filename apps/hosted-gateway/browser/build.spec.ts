import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PageAssets } from '../src/page-views/pay-page-model.js';

const app = join(process.cwd(), 'apps/hosted-gateway');
const out = join(app, 'dist/pay-assets');
const run = () => promisify(execFile)(process.execPath, [join(app, 'browser/build.ts')]);

describe("the page's build", () => {
  it('names two files by their content and gives their integrity, and does nothing the second time', async () => {
    await run();
    const manifest = JSON.parse(await readFile(join(out, 'manifest.json'), 'utf8')) as PageAssets;
    const written = await stat(join(out, 'manifest.json'));

    for (const [{ file, integrity }, extension] of [
      [manifest.script, 'js'],
      [manifest.style, 'css'],
    ] as const) {
      const content = await readFile(join(out, file));
      const digest = createHash('sha384').update(content).digest();
      expect(integrity).toBe(`sha384-${digest.toString('base64')}`);
      expect(file).toBe(`pay-${digest.toString('hex').slice(0, 16)}.${extension}`);
    }

    await run();
    expect((await stat(join(out, 'manifest.json'))).mtimeMs).toBe(written.mtimeMs);
    expect((await readdir(out)).filter((file) => file.endsWith('.tmp'))).toEqual([]);
  });

  it('stays small enough for a phone on a slow network, and needs neither Node.js nor another origin', async () => {
    await run();
    const manifest = JSON.parse(await readFile(join(out, 'manifest.json'), 'utf8')) as PageAssets;
    const script = await readFile(join(out, manifest.script.file), 'utf8');
    const style = await readFile(join(out, manifest.style.file), 'utf8');
    expect(script.length + style.length).toBeLessThan(50 * 1024);
    expect(script).not.toMatch(/node:|\brequire\(|\beval\(|new Function|https?:\/\//);
    expect(style).not.toMatch(/@import|url\(/);
  });
});
