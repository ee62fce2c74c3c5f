/** Exact decimal numbers, for arithmetic without floats: weighed goods have fractional quantities. */
export interface Decimal {
  /** The number is `units / 10 ** scale`. */
  readonly units: bigint;
  readonly scale: number;
}

export const ZERO: Decimal = { units: 0n, scale: 0 };

/** Converts the shortest decimal notation of the number: 0.1 is a tenth. The number must be finite. */
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
 * Rounds to whole cents, half away from zero as SQL's `round(numeric)` does, so that a return is exactly the negative of its sale.
 */
export function roundHalfUp({ units, scale }: Decimal): number {
  const divisor = 10n ** BigInt(scale);
  const size = units < 0n ? -units : units;
  const rounded = (2n * size + divisor) / (2n * divisor);
  return Number(units < 0n ? -rounded : rounded);
}

function unitsAtScale({ units, scale }: Decimal, wanted: number): bigint {
  return units * 10n ** BigInt(wanted - scale);
}
