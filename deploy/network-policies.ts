/**
 * Allowed connections. base/network.yaml refuses everything and allows DNS; each app gets the connections in its
 * description. Gateways, databases and brokers run in other namespaces, with a label that the platform team sets.
 */
import type {
  INetworkPolicy,
  INetworkPolicyEgressRule,
  INetworkPolicyPeer,
  INetworkPolicyPort,
} from 'kubernetes-models/networking.k8s.io/v1';
import { ROUTES } from '../libs/contracts/src/routes.ts';
import { type DeployedApp, type Destination, labelsOf, PORT } from './apps.ts';

/** Addresses that no merchant can have: the dispatcher itself refuses them too (E7). A second line of defence. */
const NOT_PUBLIC_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
];

export function networkPolicyOf(
  app: Pick<DeployedApp, 'name' | 'connectsTo'> & { readonly part: string },
  callers: readonly DeployedApp[],
): INetworkPolicy {
  const allowed = [
    ...(ROUTES.some((route) => route.app === app.name) ? [namespace('svc-payments/gateway')] : []),
    ...callers.map((caller) => pods(caller.name)),
  ];
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: app.name, labels: labelsOf(app.name, app.part) },
    spec: {
      podSelector: { matchLabels: { 'app.kubernetes.io/name': app.name } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: allowed.length === 0 ? [] : [{ from: allowed, ports: tcp(PORT) }],
      egress: app.connectsTo.map(egressTo),
    },
  };
}

/** The apps that connect to this one. */
export function callersOf(app: DeployedApp, apps: readonly DeployedApp[]): DeployedApp[] {
  return apps.filter(({ connectsTo }) => connectsTo.some((to) => typeof to === 'object' && to.app === app.name));
}

function egressTo(to: Destination): INetworkPolicyEgressRule {
  if (to === 'postgresql') return { to: [namespace('svc-payments/postgresql')], ports: tcp(5432) };
  if (to === 'rabbitmq') return { to: [namespace('svc-payments/rabbitmq')], ports: tcp(5672, 5671) };
  if (to === 'internet') {
    const addresses = [{ ipBlock: { cidr: '0.0.0.0/0', except: NOT_PUBLIC_V4 } }, { ipBlock: { cidr: '2000::/3' } }];
    return { to: addresses, ports: tcp(443, 8443) };
  }
  return { to: [pods(to.app)], ports: tcp(PORT) };
}

function namespace(label: string): INetworkPolicyPeer {
  return { namespaceSelector: { matchLabels: { [label]: 'true' } } };
}

function pods(app: string): INetworkPolicyPeer {
  return { podSelector: { matchLabels: { 'app.kubernetes.io/name': app } } };
}

function tcp(...ports: number[]): INetworkPolicyPort[] {
  return ports.map((port) => ({ protocol: 'TCP', port }));
}
