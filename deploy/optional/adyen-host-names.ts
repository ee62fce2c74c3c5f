/** A policy of Cilium that allows payment-processor to connect to Adyen's hosts only (components/adyen-host-names). */

/** The fields of a CiliumNetworkPolicy that are used here. There is no package with its schema. */
export interface CiliumNetworkPolicy {
  readonly apiVersion: 'cilium.io/v2';
  readonly kind: 'CiliumNetworkPolicy';
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly endpointSelector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly egress: readonly CiliumEgressRule[];
  };
}

interface CiliumEgressRule {
  readonly toEndpoints?: readonly { readonly matchLabels: Readonly<Record<string, string>> }[];
  readonly toFQDNs?: readonly ({ readonly matchName: string } | { readonly matchPattern: string })[];
  readonly toPorts: readonly {
    readonly ports: readonly { readonly port: string; readonly protocol: 'TCP' | 'UDP' | 'ANY' }[];
    readonly rules?: { readonly dns: readonly { readonly matchPattern: string }[] };
  }[];
}

/** Hosts to which payment-processor connects (docs/go-live.md). The live checkout host begins with a prefix of the company. */
export const ADYEN_HOSTS = ['checkout-test.adyen.com', 'ca-test.adyen.com', 'ca-live.adyen.com'] as const;
export const ADYEN_HOST_PATTERN = '*-checkout-live.adyenpayments.com';

export function createAdyenHostPolicy(labels: Readonly<Record<string, string>>): CiliumNetworkPolicy {
  return {
    apiVersion: 'cilium.io/v2',
    kind: 'CiliumNetworkPolicy',
    metadata: { name: 'payment-processor-to-adyen-hosts', labels },
    spec: {
      endpointSelector: { matchLabels: { 'app.kubernetes.io/name': 'payment-processor' } },
      egress: [
        {
          // Cilium learns the addresses of the hosts from these DNS responses.
          toEndpoints: [
            { matchLabels: { 'k8s:io.kubernetes.pod.namespace': 'kube-system', 'k8s:k8s-app': 'kube-dns' } },
          ],
          toPorts: [{ ports: [{ port: '53', protocol: 'ANY' }], rules: { dns: [{ matchPattern: '*' }] } }],
        },
        {
          toFQDNs: [...ADYEN_HOSTS.map((matchName) => ({ matchName })), { matchPattern: ADYEN_HOST_PATTERN }],
          toPorts: [{ ports: [{ port: '443', protocol: 'TCP' }] }],
        },
      ],
    },
  };
}
