/**
 * An exact decimal number. Weighed goods have fractional quantities, and floating-point arithmetic would round them.
 */
export interface Decimal {
  /** The number is `units / 10 ** scale`. */
  readonly units: bigint;
  readonly scale: number;
}

export const ZERO: Decimal = { units: 0n, scale: 0 };

/**
 * Converts the shortest decimal notation of the number, so that 0.1 becomes exactly 1/10. The number must be finite.
 */
export function decimalFromNumber(value: number): Decimal {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  if (whole === '') throw new RangeError(`${value} is not a finite number`);
  const scale = fraction.length - Number(exponent);
  const units = BigInt(`${sign}${whole}${fraction}`);
  return scale >= 0 ? { units, scale } : { units: units * 10n ** BigInt(-scale), scale: 0 };
}

export function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { units: unitsAtScale(a, scale) + unitsAtScale(b, scale), scale };
}

export function subtract(a: Decimal, b: Decimal): Decimal {
  return add(a, { units: -b.units, scale: b.scale });
}

export function multiply(a: Decimal, b: Decimal): Decimal {
  return { units: a.units * b.units, scale: a.scale + b.scale };
}

/**
 * Rounds to whole cents, and half a cent away from zero, as SQL's `round(numeric)` does. Therefore the amount of a
 * return is exactly the negative of the amount of its sale.
 */
export function roundHalfUp({ units, scale }: Decimal): number {
  const divisor = 10n ** BigInt(scale);
  const absoluteUnits = units < 0n ? -units : units;
  const rounded = (2n * absoluteUnits + divisor) / (2n * divisor);
  return Number(units < 0n ? -rounded : rounded);
}

function unitsAtScale({ units, scale }: Decimal, newScale: number): bigint {
  return units * 10n ** BigInt(newScale - scale);
}
