<?php
/**
 * Svc Payments for PHP 8.1 and newer: sessions of the hosted payment page and its webhooks; refunds, payments of an order, and
 * settlement statements. Copy this file and SvcPaymentsHttp.php into your shop. They need only the extension curl.
 *
 * An order is paid when a *verified webhook* has the `paymentStatus` "Success". The return of a payer to your returnUrl proves
 * nothing, and `status` only describes the API call.
 */
declare(strict_types=1);

require_once __DIR__ . '/SvcPaymentsHttp.php';

/** An invalid webhook. Respond with 400. `reason` is one of bad-headers, too-old, too-new, bad-signature, bad-secret, bad-body. */
final class SvcWebhookError extends RuntimeException
{
    public function __construct(public readonly string $reason, string $message)
    {
        parent::__construct("$reason: $message");
    }
}

final class SvcPayments
{
    private const MAX_BODY_BYTES = 262144;
    private const TOLERANCE_SECONDS = 300;

    private readonly string $base;
    private readonly ?string $merchantBase;
    private readonly SvcPaymentsHttp $http;

    /**
     * @param string $gatewayUrl     for example https://pay.example.com
     * @param string $apiKey         the site's or the merchant's key, svc_test_site_… or svc_live_site_…
     * @param int    $timeoutSeconds of one attempt; all attempts of a call together take at most three times as long
     * @param string|null $apiUrl    the main API, for example https://api.example.com; only for refunds, searches and settlements
     */
    public function __construct(
        string $gatewayUrl,
        int $merchantId,
        int $siteId,
        #[SensitiveParameter] string $apiKey,
        int $timeoutSeconds = 10,
        ?string $apiUrl = null,
    ) {
        foreach (['merchantId' => $merchantId, 'siteId' => $siteId] as $name => $id) {
            if ($id < 1) throw new InvalidArgumentException("$name is $id: check the setting that it comes from");
        }
        foreach (['gatewayUrl' => $gatewayUrl, 'apiUrl' => $apiUrl] as $name => $url) {
            if ($url !== null && !preg_match('~^https?://[^/?#@\s]+~', $url)) {
                throw new InvalidArgumentException("$name must be an http(s) address, as in https://pay.example.com");
            }
        }
        if (!preg_match('/^svc_(test|live)_(site|merchant)_[\w-]{43}$/D', $apiKey)) {
            throw new InvalidArgumentException('apiKey must be a key of a site or a merchant: check the setting that it comes from');
        }
        $this->base = rtrim($gatewayUrl, '/') . '/api/v3.1';
        $this->merchantBase = $apiUrl === null ? null : rtrim($apiUrl, '/') . "/business/api/v1/merchants/$merchantId";
        $headers = ["merchantId: $merchantId", "merchantSiteId: $siteId", "x-api-key: $apiKey"];
        $this->http = new SvcPaymentsHttp($headers, $timeoutSeconds);
    }

    /**
     * Creates a session. Redirect the payer to its page, the `redirectUrl` of the response. A repeat with the same requestId
     * returns the same session with its current `sessionState`. If it is "refused", "expired" or "cancelled", the session accepts
     * no more payments: create another session with another requestId, such as "$orderId.$attempt".
     *
     * The page and the receipt show `lineItems`, if they and `shippingAmount`, with or without `taxAmount`, add up to `amount`.
     * In test mode the response may have `warnings`: fields that were ignored, and lines that do not add up. Log them.
     *
     * @param array{requestId: string, merchantOrderId: string, amount: int, currencyISOCode: string, notificationUrl: string,
     *              returnUrl: string, cancelUrl: string, origin: string, siteName?: string, locale?: string,
     *              customFields?: list<array{key: string, value: string}>, shippingAmount?: int, taxAmount?: int,
     *              lineItems?: list<array{name: string, unitPrice: int, quantity?: int|float}>} $session amounts in cents
     * @return array{sessionId: string, redirectUrl: string, sessionState: string, warnings?: list<array{field?: string, message: string}>}
     * @throws SvcPaymentsError 400 names every invalid field, 401 names the wrong header, 409: requestId was used for other content
     */
    public function createSession(array $session): array
    {
        $response = $this->http->callWithRetries('POST', $this->base . '/sessions', $session)['body'];
        return $response + ['sessionState' => 'open'];
    }

    /** Returns a session with its `sessionState`. @throws SvcPaymentsError 404 if it is not a session of your site */
    public function getSession(string $sessionId): array
    {
        return $this->read($this->base . '/sessions/' . rawurlencode($sessionId));
    }

    /** Lists the final payments of a session, including failed ones, newest first. */
    public function listPayments(string $sessionId): array
    {
        return $this->read($this->base . '/payments?sessionId=' . rawurlencode($sessionId))['payments'];
    }

    /** Returns one final payment of your site. @throws SvcPaymentsError 404 if it is not a payment of your site */
    public function getPayment(string $paymentReference): array
    {
        return $this->read($this->base . '/payments/' . rawurlencode($paymentReference));
    }

    /**
     * Lists the notifications for your server, oldest first, at most 100. Store `after` and pass it to the next call; '' starts at
     * the beginning. `id` is the webhook-id: process each id only once, whether it came by webhook or from this list.
     *
     * @return array{notifications: list<array{id: string, notification: array}>, after: string, hasMore: bool}
     */
    public function listNotifications(string $after = ''): array
    {
        return $this->read($this->base . '/notifications?after=' . rawurlencode($after)) + ['after' => $after];
    }

    /**
     * Lists the deliveries to your endpoints, newest first, at most 50: `state`, `lastAttempt` with your response, `nextAttemptUTCDate`.
     *
     * @param string $state pending, delivered, superseded, exhausted, gone; '' for all
     * @return array{deliveries: list<array>, hasMore: bool, after?: string}
     */
    public function listDeliveries(string $state = '', string $after = ''): array
    {
        return $this->read($this->base . '/deliveries?' . http_build_query(['state' => $state, 'after' => $after]));
    }

    /** Sends a delivery again immediately. Does not retry. @throws SvcPaymentsError 404; 409 while it is being sent; 429 within 10 s of the last resend */
    public function resendDelivery(string $id): void
    {
        $this->http->call('POST', $this->base . '/deliveries/' . rawurlencode($id) . '/resend');
    }

    /** Cancels the session, so that it accepts no payment. Does not retry. @throws SvcPaymentsError 409 after a payment or during one */
    public function cancelSession(string $sessionId): void
    {
        $this->http->call('DELETE', $this->base . '/sessions/' . rawurlencode($sessionId));
    }

    /**
     * Refunds all or a part of a card payment. A repeat with the same idempotencyKey returns the same refund, so store the key before
     * the call. A refund that the bank declines is no error: check `status`. The webhook of the site (verifySiteWebhook) reports the
     * result of a "pending" refund. With a site's key, only payments of that site can be refunded.
     *
     * @param int $amount cents
     * @return array{refundReference: string, svcId: string, amount: int, status: string, createdUTCDate: string} status: pending, succeeded, failed
     * @throws SvcPaymentsError 404 if it is not your payment, 409: the key was used for another refund, 422: more than is left, or not refundable
     */
    public function refund(string $paymentReference, string $idempotencyKey, int $amount, ?string $reason = null): array
    {
        $body = ['amount' => $amount] + ($reason === null ? [] : ['reason' => $reason]);
        return $this->http->callWithRetries('POST', $this->refundsUrl($paymentReference), $body, ["idempotency-key: $idempotencyKey"])['body'];
    }

    /** Lists your refunds of a payment, newest first. @throws SvcPaymentsError 404 if it is not your payment */
    public function listRefunds(string $paymentReference): array
    {
        return $this->read($this->refundsUrl($paymentReference));
    }

    /**
     * Finds all final payments of an order in the last three months, newest first, page by page, while you iterate. With a site's
     * key, only payments of that site. A refunded payment stays "Success": call listRefunds. At most five pages a second, after a burst of 20.
     *
     * @param string      $orderId the merchantOrderId of the session
     * @param string|null $from    included: a day in UTC, as in 2026-11-20, or a time, as in 2026-11-20T18:03:36Z
     * @param string|null $to      a day is included, a time is not
     * @return Generator<int, array> payments, with `status` "Success" or "Failed" and amounts in cents
     * @throws SvcPaymentsError 400 names every invalid parameter
     */
    public function searchPayments(string $orderId, ?string $from = null, ?string $to = null): Generator
    {
        $query = http_build_query(['orderId' => $orderId, 'from' => $from, 'to' => $to]);
        while ($query !== null) {
            ['body' => $payments, 'headers' => $headers] = $this->http->callWithRetries('GET', $this->merchantUrl("/payment-search?$query"));
            foreach ($payments as $payment) yield ['status' => [1 => 'Success', 2 => 'Failed'][$payment['status']]] + $payment;
            $query = preg_match('~^<payment-search\?([^<>\s]+)>; rel="next"$~D', $headers['link'] ?? '', $next) ? $next[1] : null;
        }
    }

    /**
     * Returns the settlement statement of a day, or of the days from $from to $to (at most 366): `totals` of each currency in cents.
     * It may change until its `status` is "final". With a site's key, it is the statement of that site.
     *
     * @param string $from a day in the time zone of the merchant, as in 2026-11-20
     * @throws SvcPaymentsError 400 for an invalid date, a day in the future, or too many days
     */
    public function settlement(string $from, ?string $to = null): array
    {
        return $this->read($this->settlementUrl($from, $to));
    }

    /** Returns the movements of the statement as CSV. $bom: for Excel, which otherwise does not recognise UTF-8. */
    public function settlementCsv(string $from, ?string $to = null, bool $bom = false): string
    {
        $url = $this->settlementUrl($from, $to);
        if ($bom) $url .= (str_contains($url, '?') ? '&' : '?') . 'bom=1';
        return $this->http->callWithRetries('GET', $url, null, [], 'text/csv')['text'];
    }

    /**
     * Verifies and parses a webhook to the notificationUrl of a session: its age, the signature over the bytes as received, then the body. Compare amount and currency
     * with your own order before you mark it as paid, and process each paymentReference only once.
     *
     * @param array<string, string> $headers in any case, as from getallheaders()
     * @param string                $rawBody the bytes as received, file_get_contents('php://input')
     * @param list<string>          $secrets whsec_…; both secrets during a rotation
     * @return array the notification: merchantOrderId, amount (cents), currencyISOCode, paymentStatus, paymentReference, …
     * @throws SvcWebhookError
     */
    public static function verifyWebhook(
        array $headers,
        string $rawBody,
        #[SensitiveParameter] array $secrets,
        ?int $now = null,
    ): array {
        $payment = self::verifySigned($headers, $rawBody, $secrets, $now);
        if (is_string($payment['type'] ?? null)) {
            throw new SvcWebhookError('bad-body', 'this is a webhook of the site: verify it with verifySiteWebhook');
        }
        foreach (['sessionId', 'currencyISOCode', 'merchantOrderId', 'paymentReference', 'paymentUTCDate'] as $field) {
            if (!is_string($payment[$field] ?? null)) throw new SvcWebhookError('bad-body', "$field is missing");
        }
        if (!is_int($payment['amount'] ?? null)) throw new SvcWebhookError('bad-body', 'amount is no whole number of cents');
        $payment['paymentStatus'] = self::readStatus($payment, 'paymentStatus');
        return $payment;
    }

    /**
     * Verifies and parses a webhook of the site: a final payment, a refund, or a changed dispute. `id` is the webhook-id: process each
     * id only once. The parameters are those of verifyWebhook.
     *
     * @return array|null the payment with `id`, `type` (payment, refund, dispute) and `status` "Success" or "Failed", and with
     *                    `refund` or `dispute`; null for a test and for a type of a later release: respond to them with 2xx
     * @throws SvcWebhookError
     */
    public static function verifySiteWebhook(
        array $headers,
        string $rawBody,
        #[SensitiveParameter] array $secrets,
        ?int $now = null,
    ): ?array {
        $notification = self::verifySigned($headers, $rawBody, $secrets, $now);
        $type = $notification['type'] ?? null;
        if (!is_string($type)) throw new SvcWebhookError('bad-body', 'this is no webhook of the site: verify it with verifyWebhook');
        if (!in_array($type, ['payment', 'refund', 'dispute'], true)) return null;
        foreach (['invoiceExternalReference', 'currencyISOCode', 'paymentReference', 'paymentUTCDate'] as $field) {
            if (!is_string($notification[$field] ?? null)) throw new SvcWebhookError('bad-body', "$field is missing");
        }
        if ($type !== 'payment' && !is_int($notification[$type]['amount'] ?? null)) {
            throw new SvcWebhookError('bad-body', "$type.amount is no whole number of cents");
        }
        if (!is_int($notification['tenderedAmount'] ?? null)) {
            throw new SvcWebhookError('bad-body', 'tenderedAmount is no whole number of cents');
        }
        $status = self::readStatus($notification, 'status');
        return ['id' => array_change_key_case($headers, CASE_LOWER)['webhook-id'], 'status' => $status] + $notification;
    }

    /** Reads the status of a payment. The API allows text and numbers. */
    private static function readStatus(array $body, string $field): string
    {
        return match ($body[$field] ?? null) {
            1, 'Success' => 'Success',
            2, 'Failed' => 'Failed',
            default => throw new SvcWebhookError('bad-body', "$field is missing"),
        };
    }

    /** @return mixed the parsed body of a webhook with a valid age and signature */
    private static function verifySigned(array $headers, string $rawBody, array $secrets, ?int $now): mixed
    {
        $headers = array_change_key_case($headers, CASE_LOWER);
        foreach (['webhook-id', 'webhook-timestamp', 'webhook-signature'] as $name) {
            if (!is_string($headers[$name] ?? null) || $headers[$name] === '' || strlen($headers[$name]) > 4096) {
                throw new SvcWebhookError('bad-headers', "the header $name is missing or unreadable");
            }
        }
        if (!preg_match('/^\d{1,11}$/D', $headers['webhook-timestamp'])) {
            throw new SvcWebhookError('bad-headers', 'webhook-timestamp is not a time');
        }
        $signed = "{$headers['webhook-id']}.{$headers['webhook-timestamp']}.$rawBody";
        $isSigned = static fn (): bool => self::isSigned($signed, explode(' ', $headers['webhook-signature'], 16), $secrets);
        $age = ($now ?? time()) - (int) $headers['webhook-timestamp'];
        if (abs($age) > self::TOLERANCE_SECONDS) {
            $when = $age > 0 ? 'too long ago' : 'in the future';
            $reason = ($now === null ? SvcPaymentsHttp::describeClockError() : null) ?? self::describeAge($age, $isSigned);
            throw new SvcWebhookError($age > 0 ? 'too-old' : 'too-new', "it was signed $when: " . abs($age) . " s from now. $reason");
        }
        if (strlen($rawBody) > self::MAX_BODY_BYTES) throw new SvcWebhookError('bad-body', 'the body is too large');

        if (!$isSigned()) {
            throw new SvcWebhookError('bad-signature', 'no signature matches the body and the secret. Pass the body as it was received, and the secret of the site and mode');
        }
        return json_decode($rawBody, true);
    }

    /**
     * @param list<string> $signatures
     * @param list<string> $secrets
     */
    private static function isSigned(string $signed, array $signatures, array $secrets): bool
    {
        if ($secrets === []) throw new SvcWebhookError('bad-secret', 'no webhook secret was given');
        $isSigned = false;
        foreach ($secrets as $secret) {
            if ($secret === '') throw new SvcWebhookError('bad-secret', 'the webhook secret is empty: check the setting that it comes from');
            $key = base64_decode(preg_replace('/^whsec_/', '', $secret), true);
            if ($key === false || $key === '') throw new SvcWebhookError('bad-secret', 'a webhook secret is not whsec_ and base64: copy the complete secret');
            $expected = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
            foreach ($signatures as $signature) $isSigned = hash_equals($expected, $signature) || $isSigned;
        }
        return $isSigned;
    }

    /** The platform signs each attempt with its present time. Therefore only a wrong clock or a replay is out of time. */
    private static function describeAge(int $age, callable $isSigned): string
    {
        try {
            if (!$isSigned()) return 'Is the clock of this server right?';
        } catch (SvcWebhookError) {
            return 'Is the clock of this server right?';
        }
        if ($age < 0) return 'Its signature is right, so the clock of this server is behind by this difference: set it to the right time';
        return 'Its signature is right: either the clock of this server is ahead by this difference, or an old request was repeated';
    }

    private function merchantUrl(string $path): string
    {
        if ($this->merchantBase === null) throw new InvalidArgumentException('apiUrl is missing: this call needs the address of the main API');
        return $this->merchantBase . $path;
    }

    private function refundsUrl(string $paymentReference): string
    {
        return $this->merchantUrl('/refunds?svcId=' . rawurlencode($paymentReference));
    }

    private function settlementUrl(string $from, ?string $to): string
    {
        return $this->merchantUrl('/settlements' . ($to === null ? '/' . rawurlencode($from) : '?' . http_build_query(['from' => $from, 'to' => $to])));
    }

    private function read(string $url): array
    {
        return $this->http->callWithRetries('GET', $url)['body'];
    }
}
