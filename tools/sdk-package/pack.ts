/**
 * Makes the package that merchants and partners install: `./svc nx pack sdk`. Prints the path of the tarball.
 *
 * It is built in its own folder, because the workspace's output has source maps and resolves to sources, and a package needs
 * both kinds of modules: ES modules, and CommonJS for programs that `require` it.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const sdk = join(root, 'libs', 'sdk');
/** `node pack.ts <folder>`: the folder to build in, which is kept. */
const target = process.argv[2] ?? join(root, 'dist');
const staged = join(target, 'sdk-package');

rmSync(staged, { recursive: true, force: true });
mkdirSync(staged, { recursive: true });
compile('tsconfig.json', 'dist');
compile('tsconfig.commonjs.json', 'dist/commonjs');
// Module type of the scripts in a folder, for Node.js and TypeScript.
writeJson('dist/commonjs/package.json', { type: 'commonjs' });
cpSync(join(sdk, 'bin'), join(staged, 'bin'), { recursive: true });
writeJson('package.json', createManifest());
// Links from the package to files outside it would be broken.
writeFileSync(join(staged, 'webhooks.md'), rewriteLinks(readFileSync(join(root, 'docs', 'webhooks.md'), 'utf8')));
writeFileSync(join(staged, 'README.md'), rewriteLinks(readFileSync(join(sdk, 'README.md'), 'utf8')));
const [{ filename }] = JSON.parse(
  execFileSync('npm', ['pack', '--json', '--pack-destination', target], { cwd: staged, encoding: 'utf8' }),
) as [{ filename: string }];
console.log(join(target, filename));

function compile(project: string, folder: string): void {
  const options = ['--composite', 'false', '--incremental', 'false', '--sourceMap', 'false'];
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [compiler, '-p', join(sdk, project), ...options, '--outDir', join(staged, folder)], {
    stdio: 'inherit',
  });
}

function createManifest(): object {
  const { name, version, description, bin, dependencies } = JSON.parse(
    readFileSync(join(sdk, 'package.json'), 'utf8'),
  ) as Record<string, unknown>;
  const entry = (file: string): object => ({
    import: { types: `./dist/${file}.d.ts`, default: `./dist/${file}.js` },
    require: { types: `./dist/commonjs/${file}.d.ts`, default: `./dist/commonjs/${file}.js` },
  });
  return {
    ...{ name, version, description },
    // The owner has not chosen a licence yet.
    license: 'UNLICENSED',
    type: 'module',
    engines: { node: '>=22.12' },
    sideEffects: false,
    exports: { '.': entry('index'), './card': entry('card/card'), './package.json': './package.json' },
    // For compilers and bundlers that do not support "exports".
    main: './dist/commonjs/index.js',
    types: './dist/commonjs/index.d.ts',
    typesVersions: { '*': { card: ['./dist/commonjs/card/card.d.ts'] } },
    ...{ bin, dependencies },
    files: ['bin', 'dist', 'webhooks.md'],
  };
}

/** Turns links to the repository into links within the package, or into text. */
function rewriteLinks(markdown: string): string {
  return markdown
    .replaceAll('](../../docs/webhooks.md', '](webhooks.md')
    .replace(/\[([^\]]+)\]\((?:\.\.\/)+[^)]*\)/g, '$1');
}

function writeJson(file: string, value: object): void {
  writeFileSync(join(staged, file), `${JSON.stringify(value, null, 2)}\n`);
}
