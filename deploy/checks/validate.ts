/**
 * Validates rendered objects against the schemas of Kubernetes and of the operators: `kubectl kustomize FOLDER | node
 * deploy/checks/validate.ts`. Prints the problems and exits with 1 if there are any. The schemas ignore unknown fields.
 * A server reports them (`kubectl apply --dry-run=server`), and for generated objects the TypeScript compiler does.
 */
import { readFileSync } from 'node:fs';
import { Cluster } from '@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1/Cluster';
import { Pooler } from '@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1/Pooler';
import { ScheduledBackup } from '@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1/ScheduledBackup';
import { ExternalSecret } from '@kubernetes-models/external-secrets/external-secrets.io/v1/ExternalSecret';
import { Gateway } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/Gateway';
import { HTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject';
import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Namespace } from 'kubernetes-models/v1/Namespace';
import { Service } from 'kubernetes-models/v1/Service';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { parseAllDocuments } from 'yaml';
import { validateWithoutPackage } from './schemas-without-package.ts';

interface Model {
  readonly apiVersion: string;
  readonly kind: string;
  new (data: object): { validate(): void };
}

const MODELS = [
  Cluster,
  ConfigMap,
  Deployment,
  ExternalSecret,
  Gateway,
  HorizontalPodAutoscaler,
  HTTPRoute,
  Job,
  Namespace,
  NetworkPolicy,
  PodDisruptionBudget,
  PodMonitor,
  Pooler,
  ScaledObject,
  ScheduledBackup,
  Service,
  ServiceAccount,
  ServiceMonitor,
] as unknown as readonly Model[];

let validCount = 0;
for (const document of parseAllDocuments(readFileSync(0, 'utf8'))) {
  const object = document.toJS() as { apiVersion?: string; kind?: string; metadata?: { name?: string } };
  const objectName = `${object.kind} ${object.metadata?.name}`;
  const Model = MODELS.find(({ apiVersion, kind }) => apiVersion === object.apiVersion && kind === object.kind);
  try {
    if (Model !== undefined) new Model(object).validate();
    else if (!validateWithoutPackage(object))
      throw new Error(`no schema is known for ${object.kind} of ${object.apiVersion}`);
    validCount++;
  } catch (error) {
    console.error(`${objectName}: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
console.log(`${validCount} objects are valid`);
