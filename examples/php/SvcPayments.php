<?php
/**
 * Svc Payments for PHP 8.1 and newer: sessions of the hosted payment page, and its webhooks. Copy this file into your shop. It
 * needs only the extension curl.
 *
 * An order is paid when a *verified webhook* has the `paymentStatus` "Success". The return of a payer to your returnUrl proves
 * nothing, and `status` only describes the API call.
 */
declare(strict_types=1);

/** A failed call: the gateway responded with an error, or did not respond. */
final class SvcPaymentsError extends RuntimeException
{
    /**
     * @param int         $httpStatus 0 without a response
     * @param list<string> $messages  for people; programs must use the status
     * @param bool        $retryable  true if the same call may succeed later without a change
     * @param string|null $requestId  identifies the call for support
     * @param string|null $type       address of the page that explains the error
     */
    public function __construct(
        public readonly int $httpStatus,
        public readonly array $messages,
        public readonly bool $retryable,
        public readonly ?string $requestId = null,
        public readonly ?string $type = null,
    ) {
        $page = $type === null ? '' : " (see $type)";
        parent::__construct(($httpStatus === 0 ? 'No response' : $httpStatus) . ': ' . implode('; ', $messages) . $page);
    }
}

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
    private const MAX_ATTEMPTS = 4;
    private const MAX_BODY_BYTES = 262144;
    private const TOLERANCE_SECONDS = 300;

    private readonly string $base;
    /** @var list<string> */
    private readonly array $headers;

    /**
     * @param string $gatewayUrl for example https://pay.example.com
     * @param string $apiKey     the site's or the merchant's key, svc_test_site_… or svc_live_site_…
     */
    public function __construct(
        string $gatewayUrl,
        int $merchantId,
        int $siteId,
        #[SensitiveParameter] string $apiKey,
        private readonly int $timeoutSeconds = 10,
    ) {
        if (!preg_match('~^https?://[^/?#@\s]+~', $gatewayUrl)) {
            throw new InvalidArgumentException('gatewayUrl must be an http(s) address, as in https://pay.example.com');
        }
        if (!preg_match('/^svc_(test|live)_(site|merchant)_[\w-]{43}$/D', $apiKey)) {
            throw new InvalidArgumentException('apiKey must be a key of a site or a merchant: check the setting that it comes from');
        }
        $this->base = rtrim($gatewayUrl, '/') . '/api/v3.1';
        $this->headers = [
            'accept: application/json',
            "merchantId: $merchantId",
            "merchantSiteId: $siteId",
            "x-api-key: $apiKey",
        ];
    }

    /**
     * Creates a session. Redirect the payer to its page, the `redirectUrl` of the response. A repeat with the same requestId
     * returns the same session with its current `sessionState`. If it is "refused", "expired" or "cancelled", the session accepts
     * no more payments: create another session with another requestId, such as "$orderId.$attempt".
     *
     * @param array{requestId: string, merchantOrderId: string, amount: int, currencyISOCode: string, notificationUrl: string,
     *              returnUrl: string, cancelUrl: string, origin: string, siteName?: string, locale?: string,
     *              customFields?: list<array{key: string, value: string}>} $session amount in cents
     * @return array{sessionId: string, redirectUrl: string, sessionState: string}
     * @throws SvcPaymentsError 400 names every invalid field, 401 names the wrong header, 409: requestId was used for other content
     */
    public function createSession(array $session): array
    {
        $response = $this->callWithRetries('POST', '/sessions', $session);
        return $response + ['sessionState' => 'open'];
    }

    /** Returns a session with its `sessionState`. @throws SvcPaymentsError 404 if it is not a session of your site */
    public function getSession(string $sessionId): array
    {
        return $this->callWithRetries('GET', '/sessions/' . rawurlencode($sessionId));
    }

    /** Lists the final payments of a session, including failed ones, newest first. */
    public function listPayments(string $sessionId): array
    {
        return $this->callWithRetries('GET', '/payments?sessionId=' . rawurlencode($sessionId))['payments'];
    }

    /**
     * Lists the notifications for your server, oldest first, at most 100. Store `after` and pass it to the next call; '' starts at
     * the beginning. `id` is the webhook-id: process each id only once, whether it came by webhook or from this list.
     *
     * @return array{notifications: list<array{id: string, notification: array}>, after: string, hasMore: bool}
     */
    public function listNotifications(string $after = ''): array
    {
        return $this->callWithRetries('GET', '/notifications?after=' . rawurlencode($after)) + ['after' => $after];
    }

    /**
     * Lists the deliveries to your endpoints, newest first, at most 50: `state`, `lastAttempt` with your response, `nextAttemptUTCDate`.
     *
     * @param string $state pending, delivered, superseded, exhausted, gone; '' for all
     * @return array{deliveries: list<array>, hasMore: bool, after?: string}
     */
    public function listDeliveries(string $state = '', string $after = ''): array
    {
        return $this->callWithRetries('GET', '/deliveries?' . http_build_query(['state' => $state, 'after' => $after]));
    }

    /** Sends a delivery again immediately. Does not retry. @throws SvcPaymentsError 404; 409 while it is being sent; 429 within 10 s of the last resend */
    public function resendDelivery(string $id): void
    {
        $this->call('POST', '/deliveries/' . rawurlencode($id) . '/resend', null);
    }

    /** Cancels the session, so that it accepts no payment. Does not retry. @throws SvcPaymentsError 409 after a payment or during one */
    public function cancelSession(string $sessionId): void
    {
        $this->call('DELETE', '/sessions/' . rawurlencode($sessionId), null);
    }

    /**
     * Verifies and parses a webhook: its age, the signature over the bytes as received, then the body. Compare amount and currency
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
        $headers = array_change_key_case($headers, CASE_LOWER);
        foreach (['webhook-id', 'webhook-timestamp', 'webhook-signature'] as $name) {
            if (!is_string($headers[$name] ?? null) || $headers[$name] === '' || strlen($headers[$name]) > 4096) {
                throw new SvcWebhookError('bad-headers', "the header $name is missing or unreadable");
            }
        }
        if (!preg_match('/^\d{1,11}$/D', $headers['webhook-timestamp'])) {
            throw new SvcWebhookError('bad-headers', 'webhook-timestamp is not a time');
        }
        $age = ($now ?? time()) - (int) $headers['webhook-timestamp'];
        if ($age > self::TOLERANCE_SECONDS) throw new SvcWebhookError('too-old', "it was signed too long ago: $age s from now. Is the clock of this server right?");
        if ($age < -self::TOLERANCE_SECONDS) throw new SvcWebhookError('too-new', 'it was signed in the future: ' . -$age . ' s from now. Is the clock of this server right?');
        if (strlen($rawBody) > self::MAX_BODY_BYTES) throw new SvcWebhookError('bad-body', 'the body is too large');

        $signed = "{$headers['webhook-id']}.{$headers['webhook-timestamp']}.$rawBody";
        if (!self::isSigned($signed, explode(' ', $headers['webhook-signature'], 16), $secrets)) {
            throw new SvcWebhookError('bad-signature', 'no signature matches the body and the secret. Pass the body as it was received, and the secret of the site and mode');
        }
        $payment = json_decode($rawBody, true);
        foreach (['sessionId', 'currencyISOCode', 'merchantOrderId', 'paymentReference', 'paymentUTCDate'] as $field) {
            if (!is_string($payment[$field] ?? null)) throw new SvcWebhookError('bad-body', "$field is missing");
        }
        if (!is_int($payment['amount'] ?? null)) throw new SvcWebhookError('bad-body', 'amount is no whole number of cents');
        // The API allows text and numbers.
        $payment['paymentStatus'] = [1 => 'Success', 2 => 'Failed'][$payment['paymentStatus'] ?? 0] ?? $payment['paymentStatus'] ?? null;
        if (!in_array($payment['paymentStatus'], ['Success', 'Failed'], true)) {
            throw new SvcWebhookError('bad-body', 'paymentStatus is missing');
        }
        return $payment;
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
            $key = base64_decode(preg_replace('/^whsec_/', '', $secret), true);
            if ($key === false || $key === '') throw new SvcWebhookError('bad-secret', 'a webhook secret is not whsec_ and base64: copy the complete secret');
            $expected = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
            foreach ($signatures as $signature) $isSigned = hash_equals($expected, $signature) || $isSigned;
        }
        return $isSigned;
    }

    /** Retries a call without a response, and after 429, 502, 503, 504, or 409 while the same call is still running. */
    private function callWithRetries(string $method, string $path, ?array $body = null): array
    {
        for ($attempt = 1; ; $attempt++) {
            try {
                return $this->call($method, $path, $body);
            } catch (SvcPaymentsError $error) {
                if (!$error->retryable || $attempt === self::MAX_ATTEMPTS) throw $error;
                usleep((int) (250_000 * 2 ** ($attempt - 1) * (0.75 + mt_rand() / mt_getrandmax() / 2)));
            }
        }
    }

    private function call(string $method, string $path, ?array $body): array
    {
        $curl = curl_init($this->base . $path);
        $responseHeaders = [];
        curl_setopt_array($curl, [
            CURLOPT_CUSTOMREQUEST => $method,
            CURLOPT_HTTPHEADER => [...$this->headers, ...($body === null ? [] : ['content-type: application/json'])],
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT => $this->timeoutSeconds,
            // A redirect would send the key to its target.
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_HEADERFUNCTION => static function ($_, string $line) use (&$responseHeaders): int {
                [$name, $value] = explode(':', $line, 2) + [1 => ''];
                $responseHeaders[strtolower(trim($name))] = trim($value);
                return strlen($line);
            },
        ]);
        if ($body !== null) {
            curl_setopt($curl, CURLOPT_POSTFIELDS, json_encode($body, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES));
        }
        $text = curl_exec($curl);
        $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
        $failure = curl_error($curl);
        if ($text === false) throw new SvcPaymentsError(0, [$failure], true);
        $response = json_decode($text, true);
        if ($status >= 200 && $status < 300 && is_array($response)) return $response;
        $messages = array_column(is_array($response['errors'] ?? null) ? $response['errors'] : [], 'message');
        $retryable = in_array($status, [429, 502, 503, 504], true) || ($status === 409 && isset($responseHeaders['retry-after']));
        $type = preg_match('~^<(https?://[^<>\s]+)>; rel="help"$~D', $responseHeaders['link'] ?? '', $page) ? $page[1] : null;
        $requestId = $responseHeaders['x-request-id'] ?? null;
        throw new SvcPaymentsError($status, $messages ?: ['the answer cannot be read'], $retryable, $requestId, $type);
    }
}
