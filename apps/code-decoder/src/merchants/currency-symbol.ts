/** The local symbol of a currency, such as `R` for ZAR (D3); the code itself if there is none. */
export function currencySymbol(currencyISOCode: string): string {
  const parts = new Intl.NumberFormat('en-ZA', {
    style: 'currency',
    currency: currencyISOCode,
    currencyDisplay: 'narrowSymbol',
  }).formatToParts(0);
  return parts.find(({ type }) => type === 'currency')?.value ?? currencyISOCode;
}
