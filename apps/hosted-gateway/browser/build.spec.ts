import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Messages } from '../src/languages/en.js';
import { LANGUAGES } from '../src/languages/languages.js';
import type { PageManifest } from '../src/page-views/pay-page-model.js';
import { listTexts } from '../test/messages.js';
import { scriptMessages } from './script-messages.js';

const app = join(process.cwd(), 'apps/hosted-gateway');
const outDirectory = join(app, 'dist/pay-assets');
const runBuild = () => promisify(execFile)(process.execPath, [join(app, 'browser/build.ts')]);
const buildAndReadManifest = async (): Promise<PageManifest> => {
  await runBuild();
  return JSON.parse(await readFile(join(outDirectory, 'manifest.json'), 'utf8')) as PageManifest;
};
const compressedBytes = (text: string): number => gzipSync(text, { level: 9 }).length;

describe('the build of the payment page', () => {
  it('computes the hash of each asset, and writes no file if no input has changed', async () => {
    const { scripts, style } = await buildAndReadManifest();
    const statAfterFirstBuild = await stat(join(outDirectory, 'manifest.json'));
    for (const { content, integrity } of [style, ...Object.values(scripts)])
      expect(integrity).toBe(`sha384-${createHash('sha384').update(content).digest('base64')}`);
    await runBuild();
    expect((await stat(join(outDirectory, 'manifest.json'))).mtimeMs).toBe(statAfterFirstBuild.mtimeMs);
    expect((await readdir(outDirectory)).filter((file) => file.endsWith('.tmp'))).toEqual([]);
  });

  it.each(LANGUAGES)(
    'creates assets in $tag that are small enough for a slow network, and that need neither Node.js nor another origin',
    async ({ tag }) => {
      const { scripts, style } = await buildAndReadManifest();
      const script = scripts[tag].content;
      // At 400 kbit/s a KB takes 20 ms, so script and style together load in less than 0.5 s.
      expect(compressedBytes(script)).toBeLessThan(20 * 1024);
      expect(compressedBytes(style.content)).toBeLessThan(4 * 1024);
      expect(script).not.toMatch(/node:|\brequire\(|\beval\(|new Function|https?:\/\//);
      // The content must not close the script or style element, and must not open a comment.
      expect(script).not.toMatch(/<\/script|<!--/i);
      expect(style.content).not.toMatch(/@import|url\(|<\//);
    },
  );

  it.each(LANGUAGES)(
    'creates a script with all of its messages in $tag, and none in another language',
    async ({ tag, messages }) => {
      const script = (await buildAndReadManifest()).scripts[tag].content;
      const findSentences = (languageMessages: Messages): string[] =>
        listTexts(scriptMessages(languageMessages)).filter((text) => text.length > 20);
      const ownSentences = findSentences(messages);
      const otherLanguages = LANGUAGES.filter((language) => language.tag !== tag);
      const otherSentences = otherLanguages.flatMap((language) => findSentences(language.messages));
      expect(ownSentences.filter((text) => !script.includes(text))).toEqual([]);
      expect(otherSentences.filter((text) => !ownSentences.includes(text) && script.includes(text))).toEqual([]);
    },
  );
});
