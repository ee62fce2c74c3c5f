/**
 * The symbol of a currency in South Africa, such as `R` for ZAR (D3), or the ISO code if the currency has no symbol.
 */
export function currencySymbol(currencyISOCode: string): string {
  const parts = new Intl.NumberFormat('en-ZA', {
    style: 'currency',
    currency: currencyISOCode,
    currencyDisplay: 'narrowSymbol',
  }).formatToParts(0);
  return parts.find(({ type }) => type === 'currency')?.value ?? currencyISOCode;
}
