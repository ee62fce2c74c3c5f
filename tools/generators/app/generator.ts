import { join } from 'node:path';
import {
  formatFiles,
  generateFiles,
  installPackagesTask,
  joinPathFragments,
  names,
  readJson,
  type Tree,
  updateJson,
} from '@nx/devkit';

interface Options {
  /** Kebab-case. */
  readonly name: string;
  readonly description: string;
}

/** The new app gets the versions of its packages from this app, because all apps use the same versions. */
const MODEL = 'apps/payment-history/package.json';

/** Creates an app: a service with its configuration, ready for features, and a test that starts it. */
export default async function app(tree: Tree, { name, description }: Options): Promise<() => void> {
  const folder = joinPathFragments('apps', name);
  if (tree.exists(folder)) throw new Error(`${folder} exists`);
  const { dependencies } = readJson<{ dependencies: Record<string, string> }>(tree, MODEL);
  generateFiles(tree, join(import.meta.dirname, 'files'), folder, {
    name,
    description,
    className: names(name).className,
    variable: names(name).propertyName,
    nest: dependencies['@nestjs/common'],
    typeorm: dependencies['typeorm'],
    svc: dependencies['@svc/service'],
  });
  updateJson(tree, 'tsconfig.json', (config: { references: { path: string }[] }) => ({
    ...config,
    references: [...config.references, { path: folder }],
  }));
  await formatFiles(tree);
  return () => {
    // The lock file must list every package of the workspace, because otherwise `npm ci` fails.
    installPackagesTask(tree, true);
    console.log(`
Next:
  ./svc test apps/${name}
  ./svc nx g @svc/generators:feature <noun> --app=${name}
To make it a part of the platform: SERVICES in tools/svc/settings/settings.ts, its messages in libs/contracts/src/service-messages.ts,
its roles in deploy/database/roles.sql, its module in apps/all-in-one, then node deploy/generate.ts and docker/compose.yaml.`);
  };
}
