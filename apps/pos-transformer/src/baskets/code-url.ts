/** Address of the image of a basket's code: the basket's, so that it shows the newest code also after a change. */
export function codeUrl(baseUrl: string, token: string): string {
  return `${baseUrl}/codes/${token}.svg`;
}
