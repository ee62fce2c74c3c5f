import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator';

/** Values of one field at the edges of what it takes, and just beyond them. */
export interface Bounds {
  readonly takes: readonly unknown[];
  readonly refuses: readonly unknown[];
}

const NO_TEXT: readonly unknown[] = ['', ' ', 'a\u0000b', 'a\nb', '\ud83d', 7, true, {}, ['x']];

/** Text of 1 to so many characters. */
export const text = (most: number): Bounds => ({
  takes: ['x', 'x'.repeat(most)],
  refuses: [undefined, null, 'x'.repeat(most + 1), ...NO_TEXT],
});

/** Whatever text, the empty one too, of `least` to `most` characters. */
export const anyText = (most: number, least = 0): Bounds => ({
  takes: ['x'.repeat(least), 'x'.repeat(most), ' \n'.repeat(least)],
  refuses: [undefined, null, 7, ['x'], 'x'.repeat(most + 1), ...(least > 0 ? ['x'.repeat(least - 1)] : [])],
});

export const amount: Bounds = {
  takes: [1, 100_000_000_000],
  refuses: [undefined, null, 0, -1, 1.5, 100_000_000_001, '1', true],
};

export const wholeNumber: Bounds = { takes: [0, 12, 2030], refuses: [undefined, null, 1.5, '12', true, {}] };

/** An object, or a list of at most so many, whose own members are checked: `good` is taken, `bad` refused by a member. */
export const nested = (good: object, bad: object): Bounds => ({
  takes: [good],
  refuses: [undefined, null, 7, 'x', [good], [], bad],
});
export const nestedList = (most: number, good: object, bad: object): Bounds => ({
  takes: [[], Array<object>(most).fill(good)],
  refuses: [undefined, null, 7, 'x', good, Array<object>(most + 1).fill(good), [good, bad], [null], [7], [[good]]],
});

/** May be left out or null. */
export const optional = ({ takes, refuses }: Bounds): Bounds => ({
  takes: [undefined, null, ...takes],
  refuses: refuses.filter((value) => value !== undefined && value !== null),
});

/** Paths of the fields that are refused, each with the rules that refuse it and their messages. */
export function problemsOf(type: new () => object, body: object): Record<string, Record<string, string>> {
  return Object.fromEntries(validateSync(plainToInstance(type, body), { whitelist: true }).flatMap((e) => problems(e)));
}

function problems(error: ValidationError, parent = ''): [string, Record<string, string>][] {
  const path = parent + error.property;
  const own: [string, Record<string, string>][] = error.constraints ? [[path, error.constraints]] : [];
  return [...own, ...(error.children ?? []).flatMap((child) => problems(child, `${path}.`))];
}

/** Declares the tests of a request: `valid` is taken, each field has its bounds, and no field is without any. */
export function describeBounds<T extends object>(
  type: new () => T,
  valid: { [Field in keyof T]?: unknown },
  bounds: { [Field in keyof T]-?: Bounds },
): void {
  const fields = Object.entries<Bounds>(bounds);
  const shown = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 40);

  describe(`${type.name}`, () => {
    it('is taken as it is documented, and every field of it is checked', () => {
      expect(problemsOf(type, valid)).toEqual({});
      const checked = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
      expect(new Set(checked.map(({ propertyName }) => propertyName))).toEqual(new Set(Object.keys(bounds)));
    });

    it.each(fields.flatMap(([field, { takes }]) => takes.map((value) => [field, shown(value), value] as const)))(
      'takes %s %s',
      (field, _, value) => expect(problemsOf(type, { ...valid, [field]: value })).toEqual({}),
    );

    it.each(fields.flatMap(([field, { refuses }]) => refuses.map((value) => [field, shown(value), value] as const)))(
      'refuses %s %s',
      (field, _, value) => {
        const paths = Object.keys(problemsOf(type, { ...valid, [field]: value }));
        expect(paths.length).toBeGreaterThan(0);
        for (const path of paths) expect(path.split('.')[0]).toBe(field);
      },
    );
  });
}
