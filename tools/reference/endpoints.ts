/**
 * A module of libs/contracts with the documented paths of each host and their methods. Services and reverse proxies use
 * it to explain a 404 or a 405.
 */
import type { Host } from '../../libs/contracts/src/routes.ts';
import type { Audience } from './audiences.ts';
import { AUDIENCES } from './audiences.ts';
import type { Operation } from './source/operations.ts';

const HOSTS: Readonly<Partial<Record<Audience['name'], Host>>> = {
  partner: 'api',
  merchant: 'api',
  gateway: 'gateway',
  administration: 'admin',
};

export const ENDPOINTS_MODULE = 'libs/contracts/src/endpoints.ts';

/** The text of the module. */
export function formatEndpointsModule(operations: readonly Operation[]): string {
  const hosts = new Map<string, Map<string, Set<string>>>();
  for (const { name, includes } of AUDIENCES) {
    const host = HOSTS[name];
    if (host === undefined) continue;
    const paths = hosts.get(host) ?? new Map<string, Set<string>>();
    hosts.set(host, paths);
    for (const { path, method } of operations.filter(includes))
      paths.set(path, (paths.get(path) ?? new Set()).add(method.toUpperCase()));
  }
  const sections = [...hosts].map(([host, paths]) => `  ${host}: {\n${formatPaths(paths)}  },\n`);
  return `// Made by tools/reference/generate.ts from the controllers. Do not edit.

/**
 * The documented paths of the hosts and the methods of each path. A segment in braces means one segment of any
 * text.
 */
export const ENDPOINTS = {
${sections.join('')}} as const satisfies Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
`;
}

function formatPaths(paths: ReadonlyMap<string, ReadonlySet<string>>): string {
  return [...paths]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, methods]) => {
      const names = [...methods].sort().map((name) => `'${name}'`);
      return `    '${path}': [${names.join(', ')}],\n`;
    })
    .join('');
}
