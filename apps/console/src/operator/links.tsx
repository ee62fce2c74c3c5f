/** The timeline of a payment. */
export function PaymentLink({ reference }: { readonly reference: string }) {
  return <a href={`/operator/timeline?find=${encodeURIComponent(reference)}`}>{reference}</a>;
}

export function MerchantLink({ merchantId }: { readonly merchantId: number }) {
  return <a href={`/operator/merchants/${merchantId}`}>{merchantId}</a>;
}
