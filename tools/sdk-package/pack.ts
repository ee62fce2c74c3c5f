/**
 * Builds the SDK package that merchants and partners install: `./svc nx pack sdk`. Prints the path of the tarball.
 *
 * The package is compiled into its own folder. The output of the workspace is not suitable: it has source maps and only
 * ES modules, but the package must also contain CommonJS modules for programs that `require` it.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const sdk = join(root, 'libs', 'sdk');
/** The folder for the package and the tarball: `node pack.ts <folder>`. */
const target = process.argv[2] ?? join(root, 'dist');
const staged = join(target, 'sdk-package');

rmSync(staged, { recursive: true, force: true });
mkdirSync(staged, { recursive: true });
compile('tsconfig.json', 'dist');
compile('tsconfig.commonjs.json', 'dist/commonjs');
// Declares the module type of the scripts in this folder for Node.js and TypeScript.
writeJson('dist/commonjs/package.json', { type: 'commonjs' });
cpSync(join(sdk, 'bin'), join(staged, 'bin'), { recursive: true });
writeJson('package.json', createManifest());
// Links to files outside the package would be broken.
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
  const { name, version, description, bin, dependencies, engines } = JSON.parse(
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
    engines,
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

/** Replaces links to files of the repository by links within the package, or by their text. */
function rewriteLinks(markdown: string): string {
  return markdown
    .replaceAll('](../../docs/webhooks.md', '](webhooks.md')
    .replace(/\[([^\]]+)\]\((?:\.\.\/)+[^)]*\)/g, '$1');
}

function writeJson(file: string, value: object): void {
  writeFileSync(join(staged, file), `${JSON.stringify(value, null, 2)}\n`);
}
