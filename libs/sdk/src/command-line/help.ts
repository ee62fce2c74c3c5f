/** The help of `svc-webhook`. */
export const WEBHOOK_HELP = `usage: svc-webhook verify [--secret whsec_…]… [--api-key key]… [--received-at time] < request

  --secret       secret of the site; checks the headers webhook-id, webhook-timestamp, webhook-signature
  --api-key      key of the site (v3.1) or merchant (v3); checks the older signature in the body
  --received-at  when the request was received (2026-03-01T10:00:00Z); without this option the age is not checked
  request        headers, an empty line, the body, byte for byte as received

Other commands: svc-webhook listen, svc-webhook trigger
`;

export const FORWARD_HELP = `usage: svc-webhook listen --forward-to <url> --secret whsec_… --gateway-url <url> --merchant-id <n> --site-id <n> --api-key <key>
       svc-webhook trigger payment.succeeded|payment.failed --forward-to <url> --secret whsec_… [--order <id>] [--amount <cents>]

  listen    posts each new notification of a site in test mode to your receiver
  trigger   posts one sample notification to your receiver
  --secret  secret with which your receiver verifies webhooks: the command signs the headers with it
  Each option can be an environment variable instead: SVC_FORWARD_TO, SVC_WEBHOOK_SECRET, SVC_GATEWAY_URL, SVC_MERCHANT_ID, SVC_SITE_ID, SVC_API_KEY
`;

/** Whether the caller asks for help. Without a command, `svc-webhook` would wait for the input of a request. */
export function isHelp(args: readonly string[]): boolean {
  return args.length === 0 || args.some((arg) => ['help', '--help', '-h'].includes(arg));
}

export const HELP = `${FORWARD_HELP}\n${WEBHOOK_HELP.replace(/\nOther commands: .*\n/, '')}`;
