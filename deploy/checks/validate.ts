/**
 * Validates rendered objects against Kubernetes' own schemas: `kubectl kustomize FOLDER | node
 * deploy/checks/validate.ts`. Prints the problems and exits with 1 if there are any. The schemas ignore unknown fields.
 * A server reports them (`kubectl apply --dry-run=server`), and for generated objects the TypeScript compiler does.
 */
import { readFileSync } from 'node:fs';
import { Gateway, HTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { Job } from 'kubernetes-models/batch/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Namespace, Service, ServiceAccount } from 'kubernetes-models/v1';
import { parseAllDocuments } from 'yaml';

interface Model {
  readonly apiVersion: string;
  readonly kind: string;
  new (data: object): { validate(): void };
}

const MODELS = [
  Deployment,
  Gateway,
  HorizontalPodAutoscaler,
  HTTPRoute,
  Job,
  Namespace,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
  ServiceAccount,
] as unknown as readonly Model[];

let validCount = 0;
for (const document of parseAllDocuments(readFileSync(0, 'utf8'))) {
  const object = document.toJS() as { apiVersion?: string; kind?: string; metadata?: { name?: string } };
  const objectName = `${object.kind} ${object.metadata?.name}`;
  const Model = MODELS.find(({ apiVersion, kind }) => apiVersion === object.apiVersion && kind === object.kind);
  try {
    if (Model === undefined) throw new Error(`no schema is known for ${object.kind} of ${object.apiVersion}`);
    new Model(object).validate();
    validCount++;
  } catch (error) {
    console.error(`${objectName}: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
console.log(`${validCount} objects are valid`);
