import { join } from 'node:path';
import { formatFiles, generateFiles, joinPathFragments, names, type Tree } from '@nx/devkit';

interface Options {
  /** Folder of the app below `apps/`. */
  readonly app: string;
  /** Singular, kebab-case. */
  readonly name: string;
  readonly plural?: string;
}

/** The distance between the numbers of migrations, so that a migration can be inserted between two others. */
const MIGRATION_STEP = 10;

/** Creates a feature folder in an app and registers its providers and its migration. */
export default async function feature(tree: Tree, { app, name, plural = `${name}s` }: Options): Promise<() => void> {
  const src = joinPathFragments('apps', app, 'src');
  const folder = joinPathFragments(src, plural);
  if (!tree.exists(joinPathFragments(src, 'app.module.ts'))) throw new Error(`apps/${app} is not an app with a module`);
  if (tree.exists(folder)) throw new Error(`${folder} exists`);

  const noun = names(name).className;
  const nouns = names(plural).className;
  const number = findNextMigrationNumber(tree, joinPathFragments(src, 'migrations'));
  const migrationClass = `${nouns}${number}`;
  const variables = {
    noun,
    nouns,
    variable: names(name).propertyName,
    file: name,
    files: plural,
    table: plural.replaceAll('-', '_'),
    id: `${name.replaceAll('-', '_')}_id`,
    idVariable: `${names(name).propertyName}Id`,
    service: findServiceName(tree, src),
    number,
    migrationClass,
  };
  generateFiles(tree, join(import.meta.dirname, 'files', 'feature'), folder, variables);
  generateFiles(
    tree,
    join(import.meta.dirname, 'files', 'migrations'),
    joinPathFragments(src, 'migrations'),
    variables,
  );

  editFile(tree, joinPathFragments(src, 'app.module.ts'), (text) =>
    addToList(
      addImports(text, [
        `import { Create${noun} } from './${plural}/create-${name}.js';`,
        `import { ${noun}Repository } from './${plural}/${name}.repository.js';`,
      ]),
      'providers',
      [`Create${noun}`, `${noun}Repository`],
    ),
  );
  editFile(tree, joinPathFragments(src, 'index.ts'), (text) =>
    addToList(
      addImports(text, [`import { ${migrationClass} } from './migrations/${number}-${plural}.js';`]),
      'migrations',
      [migrationClass],
    ),
  );
  await formatFiles(tree);
  return () => {
    console.log(`
Next:
  ./svc test apps/${app}/src/${plural}
  SVC_WRITE_SCHEMAS=1 ./svc test --selectProjects postgres-15 --testPathPatterns apps/all-in-one/src/schemas
  ./svc npm run check -- --fix, then ./svc npm run check
A controller also needs its routes in libs/contracts/src/routes.ts and a row in apps/all-in-one/test/who-may-do-what.`);
  };
}

/**
 * Returns a number after the newest migration of the app. The first migration of an app gets a multiple of 1000, after
 * the newest migration of all apps.
 */
function findNextMigrationNumber(tree: Tree, folder: string): number {
  const listNumbers = (migrations: string) =>
    tree
      .children(migrations)
      .flatMap((file) => /^(\d+)-/.exec(file)?.[1] ?? [])
      .map(Number);
  const numbersOfApp = listNumbers(folder);
  if (numbersOfApp.length > 0) return Math.max(...numbersOfApp) + MIGRATION_STEP;
  const all = tree.children('apps').flatMap((app) => listNumbers(joinPathFragments('apps', app, 'src', 'migrations')));
  return Math.floor(Math.max(...all) / 1000 + 1) * 1000;
}

/** The name of the exported ServiceDefinition. */
function findServiceName(tree: Tree, src: string): string {
  const found = /export const (\w+): ServiceDefinition/.exec(
    tree.read(joinPathFragments(src, 'index.ts'), 'utf8') ?? '',
  );
  if (found?.[1] === undefined) throw new Error(`${src}/index.ts exports no ServiceDefinition`);
  return found[1];
}

function editFile(tree: Tree, path: string, change: (text: string) => string): void {
  tree.write(path, change(tree.read(path, 'utf8') ?? ''));
}

/** Adds the lines after the last import; `./svc npm run check -- --fix` sorts them. */
function addImports(text: string, lines: readonly string[]): string {
  const last = text.lastIndexOf('\nimport ');
  const end = text.indexOf(';\n', last) + 2;
  return `${text.slice(0, end)}${lines.join('\n')}\n${text.slice(end)}`;
}

/** Adds the entries at the end of the array that is the value of the property. */
function addToList(text: string, property: string, entries: readonly string[]): string {
  const begin = text.search(new RegExp(`\\b${property}: \\[`));
  if (begin < 0) throw new Error(`there is no list "${property}" to add ${entries.join(' and ')} to`);
  let depth = 0;
  for (let at = text.indexOf('[', begin); at < text.length; at++) {
    if (text[at] === '[') depth++;
    if (text[at] === ']' && --depth === 0) {
      const before = text.slice(0, at).trimEnd();
      const comma = before.endsWith(',') || before.endsWith('[') ? '' : ',';
      return `${before}${comma} ${entries.join(', ')}${text.slice(at)}`;
    }
  }
  throw new Error(`the list "${property}" has no end`);
}
