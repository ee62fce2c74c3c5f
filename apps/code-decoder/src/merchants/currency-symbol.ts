/** The symbol of a currency as it is written where it is used: `R` for ZAR (D3). The code itself where there is none. */
export function currencySymbol(currencyISOCode: string): string {
  const parts = new Intl.NumberFormat('en-ZA', {
    style: 'currency',
    currency: currencyISOCode,
    currencyDisplay: 'narrowSymbol',
  }).formatToParts(0);
  return parts.find(({ type }) => type === 'currency')?.value ?? currencyISOCode;
}
