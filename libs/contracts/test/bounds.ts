import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator';

/**
 * Values of one field. Validation must accept the values at the limits of the field, and reject the values just beyond
 * the limits.
 */
export interface Bounds {
  readonly accepted: readonly unknown[];
  readonly rejected: readonly unknown[];
}

const INVALID_TEXTS: readonly unknown[] = ['', ' ', 'a\u0000b', 'a\nb', '\ud83d', 7, true, {}, ['x']];

/** Bounds of text of 1 to `maxLength` characters that `IsText` accepts. */
export const text = (maxLength: number): Bounds => ({
  accepted: ['x', 'x'.repeat(maxLength)],
  rejected: [undefined, null, 'x'.repeat(maxLength + 1), ...INVALID_TEXTS],
});

/** Bounds of text of 1 to `maxLength` characters that `IsLabel` accepts. */
export const label = (maxLength: number): Bounds => ({
  accepted: ['x', 'x'.repeat(maxLength), 'a\u0000b', 'a\nb', '\ta'],
  rejected: [undefined, null, 'x'.repeat(maxLength + 1), '', ' ', '\n\u0000', '\ud83d', 7, true, {}, ['x']],
});

/** Bounds of any text of `minLength` to `maxLength` characters, including blank text. */
export const anyText = (maxLength: number, minLength = 0): Bounds => ({
  accepted: ['x'.repeat(minLength), 'x'.repeat(maxLength), ' \n'.repeat(minLength)],
  rejected: [
    undefined,
    null,
    7,
    ['x'],
    'x'.repeat(maxLength + 1),
    ...(minLength > 0 ? ['x'.repeat(minLength - 1)] : []),
  ],
});

export const amount: Bounds = {
  accepted: [1, 100_000_000_000],
  rejected: [undefined, null, 0, -1, 1.5, 100_000_000_001, '1', true],
};

export const wholeNumber: Bounds = { accepted: [0, 12, 2030], rejected: [undefined, null, 1.5, '12', true, {}] };

/** Bounds of a nested object whose fields are validated: `valid` must be accepted, `invalid` has a wrong field. */
export const nested = (valid: object, invalid: object): Bounds => ({
  accepted: [valid],
  rejected: [undefined, null, 7, 'x', [valid], [], invalid],
});
/** Bounds of a list of at most `maxItems` nested objects. */
export const nestedList = (maxItems: number, valid: object, invalid: object): Bounds => ({
  accepted: [[], Array<object>(maxItems).fill(valid)],
  rejected: [
    undefined,
    null,
    7,
    'x',
    valid,
    Array<object>(maxItems + 1).fill(valid),
    [valid, invalid],
    [null],
    [7],
    [[valid]],
  ],
});

/** Bounds of a field that may also be absent or null. */
export const optional = ({ accepted, rejected }: Bounds): Bounds => ({
  accepted: [undefined, null, ...accepted],
  rejected: rejected.filter((value) => value !== undefined && value !== null),
});

/** For each rejected field: its path, and the rules that reject it with their messages. */
export function validationErrors(type: new () => object, body: object): Record<string, Record<string, string>> {
  return Object.fromEntries(
    validateSync(plainToInstance(type, body), { whitelist: true }).flatMap((e) => collectErrors(e)),
  );
}

function collectErrors(error: ValidationError, parent = ''): [string, Record<string, string>][] {
  const path = parent + error.property;
  const ownErrors: [string, Record<string, string>][] = error.constraints ? [[path, error.constraints]] : [];
  return [...ownErrors, ...(error.children ?? []).flatMap((child) => collectErrors(child, `${path}.`))];
}

/**
 * Declares the tests of a request class: `valid` is accepted, every field has bounds, and each field is validated at
 * its bounds.
 */
export function describeBounds<T extends object>(
  type: new () => T,
  valid: { [Field in keyof T]?: unknown },
  bounds: { [Field in keyof T]-?: Bounds },
): void {
  const fields = Object.entries<Bounds>(bounds);
  const formatValue = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 40);

  describe(`${type.name}`, () => {
    it('accepts the valid example, and validates every field', () => {
      expect(validationErrors(type, valid)).toEqual({});
      const checked = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
      expect(new Set(checked.map(({ propertyName }) => propertyName))).toEqual(new Set(Object.keys(bounds)));
    });

    it.each(
      fields.flatMap(([field, { accepted }]) => accepted.map((value) => [field, formatValue(value), value] as const)),
    )('accepts the value of %s: %s', (field, _, value) =>
      expect(validationErrors(type, { ...valid, [field]: value })).toEqual({}),
    );

    it.each(
      fields.flatMap(([field, { rejected }]) => rejected.map((value) => [field, formatValue(value), value] as const)),
    )('rejects the value of %s: %s', (field, _, value) => {
      const paths = Object.keys(validationErrors(type, { ...valid, [field]: value }));
      expect(paths.length).toBeGreaterThan(0);
      for (const path of paths) expect(path.split('.')[0]).toBe(field);
    });
  });
}
