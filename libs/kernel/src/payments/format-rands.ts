/** Formats cents: `R 1 234.50`. */
export function formatRands(cents: number): string {
  const absoluteCents = Math.abs(cents);
  const whole = String(Math.floor(absoluteCents / 100)).replace(/\B(?=(\d{3})+$)/g, ' ');
  return `${cents < 0 ? '-' : ''}R ${whole}.${String(absoluteCents % 100).padStart(2, '0')}`;
}

/** An amount for a developer, who sends cents: `123450 cents (R 1 234.50)`. */
export function describeCents(cents: number): string {
  return `${cents} ${Math.abs(cents) === 1 ? 'cent' : 'cents'} (${formatRands(cents)})`;
}
