/** The old and the new values of the settings that were changed. */
interface ChangedSettings<S> {
  readonly before: Partial<S>;
  readonly after: Partial<S>;
}

/**
 * Returns the settings that differ, with their old and new values, or undefined if no setting differs. Both arguments
 * must be normalised, because their JSON texts are compared, so a different order of members counts as a difference.
 */
export function changedSettings<S extends object>(before: S, after: S): ChangedSettings<S> | undefined {
  const changedNames = (Object.keys(after) as (keyof S)[]).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const pick = (settings: S): Partial<S> =>
    Object.fromEntries(changedNames.map((name) => [name, settings[name]])) as Partial<S>;
  return changedNames.length === 0 ? undefined : { before: pick(before), after: pick(after) };
}
