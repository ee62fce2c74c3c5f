import { FactList } from '../../layout/layout.js';

const MAX_VALUES = 10;

/**
 * The secrets and links in the response to a change, with their names, also of nested members. They are shown once, because
 * the platform cannot read them again.
 */
export function listCreatedValues(response: unknown, names: readonly string[]): [name: string, value: string][] {
  const found: [string, string][] = [];
  const visit = (value: unknown, path: string): void => {
    if (found.length >= MAX_VALUES || value === null) return;
    if (typeof value === 'object')
      for (const [name, member] of Object.entries(value)) visit(member, path === '' ? name : `${path} ${name}`);
    else if (typeof value === 'string' && names.some((name) => path.split(' ').includes(name)))
      found.push([path, value]);
  };
  visit(response, '');
  return found;
}

/** The section of a page that shows them once. */
export function CreatedValues({ values }: { readonly values: readonly (readonly [name: string, value: string])[] }) {
  if (values.length === 0) return null;
  return (
    <section class="card">
      <h2>Shown only now</h2>
      <FactList>{values.map(([name, value]) => [name, <code>{value}</code>] as const)}</FactList>
    </section>
  );
}
