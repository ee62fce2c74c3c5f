/** Address of the QR code image of a basket. It identifies the basket, not the invoice, so it always shows the newest code. */
export function codeUrl(baseUrl: string, token: string): string {
  return `${baseUrl}/codes/${token}.svg`;
}
