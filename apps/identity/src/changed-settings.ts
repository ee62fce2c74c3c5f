export interface ChangedSettings<S> {
  readonly before: Partial<S>;
  readonly after: Partial<S>;
}

/**
 * Settings that differ, with their old and new values, or undefined. Both arguments must be normalised: it compares JSON
 * texts, so another order of members is a difference.
 */
export function changedSettings<S extends object>(before: S, after: S): ChangedSettings<S> | undefined {
  const changed = (Object.keys(after) as (keyof S)[]).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const pick = (from: S): Partial<S> => Object.fromEntries(changed.map((name) => [name, from[name]])) as Partial<S>;
  return changed.length === 0 ? undefined : { before: pick(before), after: pick(after) };
}
