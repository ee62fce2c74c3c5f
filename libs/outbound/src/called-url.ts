import { type FieldProblem, merchantUrlProblem, type MerchantUrlRules } from '@svc/kernel';
import { checkUrl } from './address-guard.js';

/**
 * Returns the problem of a URL that the platform will call, or undefined if the URL has no problem. The problem is the
 * result of {@link merchantUrlProblem}, or a refusal of {@link checkUrl}. So a merchant gets the error when the URL is
 * configured, not after all webhook attempts have failed. The IP addresses of a host name are checked later, at each
 * call.
 */
export function calledUrlProblem(field: string, text: string, rules: MerchantUrlRules): FieldProblem | undefined {
  const problem = merchantUrlProblem(field, text, rules);
  if (problem) return problem;
  const { refused } = checkUrl(text, { allowLoopback: rules.allowLoopbackHttp });
  return (
    refused && {
      field,
      message: `${field} must be an address on the internet: nothing is sent to this one (${refused})`,
    }
  );
}
