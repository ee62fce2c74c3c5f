export interface ChangedSettings<S> {
  readonly before: Partial<S>;
  readonly after: Partial<S>;
}

/**
 * Which settings differ, each as it was and as it is. Undefined when none does. Both must have been settled: what is
 * compared is how JSON writes them, so members in another order are a difference.
 */
export function changedSettings<S extends object>(before: S, after: S): ChangedSettings<S> | undefined {
  const changed = (Object.keys(after) as (keyof S)[]).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const pick = (from: S): Partial<S> => Object.fromEntries(changed.map((name) => [name, from[name]])) as Partial<S>;
  return changed.length === 0 ? undefined : { before: pick(before), after: pick(after) };
}
