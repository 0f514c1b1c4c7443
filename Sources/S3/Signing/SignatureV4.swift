internal import COpenSSL
package import ObjectStore

/// Signs requests with Signature Version 4 of Amazon. Pure.
///
/// The path is signed as it is sent (S3 normalises nothing), and the digest of the body is signed as well.
package struct SignatureV4: Sendable {
  package var credentials: S3Credentials
  package var region: String
  /// `s3` or `sts`.
  package var service: String

  package init(_ credentials: S3Credentials, region: String, service: String = "s3") {
    self.credentials = credentials
    self.region = region
    self.service = service
  }

  /// What is signed.
  package struct Request: Sendable, Hashable {
    package var method: String
    package var endpoint: S3Endpoint
    /// It begins with a slash, and is not encoded.
    package var path: String
    /// Names and values, not encoded, in the order in which they are sent.
    package var query: [Pair]
    /// Without `Host` and those of the signature. No value has a line end.
    package var headers: [Pair]

    package init(
      method: String, endpoint: S3Endpoint, path: String, query: [Pair] = [], headers: [Pair] = []
    ) {
      self.method = method
      self.endpoint = endpoint
      self.path = path
      self.query = query
      self.headers = headers
    }

    /// Path and query, encoded.
    package var target: String {
      let path = PercentEncoding.encode(path, keepsSlashes: true)
      return query.isEmpty ? path : path + "?" + query.map(\.encoded).joined(separator: "&")
    }

    package var url: String { "\(endpoint)\(target)" }
  }

  package struct Pair: Sendable, Hashable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }

    fileprivate var encoded: String { "\(PercentEncoding.encode(name))=\(PercentEncoding.encode(value))" }
  }

  /// The digest that a request without a body has.
  package static let emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

  private static let algorithm = "AWS4-HMAC-SHA256"

  /// Returns all headers with which a request is sent, except `Content-Length`.
  ///
  /// - Parameter payload: the SHA-256 of the body, 64 small hexadecimal digits.
  package func headers(of request: Request, payload: String, at time: UTCTime) -> [Pair] {
    var headers = request.headers + [Pair("host", request.endpoint.authority), Pair("x-amz-date", Self.stamp(time))]
    headers.append(Pair("x-amz-content-sha256", payload))
    if let token = credentials.sessionToken { headers.append(Pair("x-amz-security-token", token)) }
    let (canonical, names) = Self.canonical(headers)
    let signature = signature(of: request, query: request.query, canonical, names, payload: payload, at: time)
    headers.append(
      Pair(
        "authorization",
        "\(Self.algorithm) Credential=\(credentials.accessKeyID)/\(scope(time)), SignedHeaders=\(names), Signature=\(signature)"
      ))
    return headers
  }

  /// Returns a URL by which anybody can send the request for some seconds, with no header but `Host`.
  ///
  /// - Parameter seconds: from 1 to 604,800.
  package func url(for request: Request, validFor seconds: Int, at time: UTCTime) -> String {
    let (canonical, names) = Self.canonical([Pair("host", request.endpoint.authority)])
    var signed = request
    signed.query += [
      Pair("X-Amz-Algorithm", Self.algorithm), Pair("X-Amz-Credential", "\(credentials.accessKeyID)/\(scope(time))"),
      Pair("X-Amz-Date", Self.stamp(time)), Pair("X-Amz-Expires", "\(min(max(1, seconds), 604_800))"),
      Pair("X-Amz-SignedHeaders", names),
    ]
    if let token = credentials.sessionToken { signed.query.append(Pair("X-Amz-Security-Token", token)) }
    let signature = signature(
      of: request, query: signed.query, canonical, names, payload: "UNSIGNED-PAYLOAD", at: time)
    return "\(signed.url)&X-Amz-Signature=\(signature)"
  }

  private func signature(
    of request: Request, query: [Pair], _ headers: String, _ names: String, payload: String, at time: UTCTime
  ) -> String {
    let query = query.map { (PercentEncoding.encode($0.name), PercentEncoding.encode($0.value)) }
      .sorted { $0 < $1 }.map { "\($0)=\($1)" }.joined(separator: "&")
    let canonical = [
      request.method, PercentEncoding.encode(request.path, keepsSlashes: true), query, headers, names, payload,
    ].joined(separator: "\n")
    let digest = ObjectDigest.hex(of: Array(canonical.utf8))
    let text = [Self.algorithm, Self.stamp(time), scope(time), digest].joined(separator: "\n")
    var key = Array("AWS4\(credentials.secretAccessKey)".utf8)
    for part in [Self.day(time), region, service, "aws4_request"] { key = Self.hmac(key, part) }
    return Self.hexadecimal(Self.hmac(key, text))
  }

  private func scope(_ time: UTCTime) -> String { "\(Self.day(time))/\(region)/\(service)/aws4_request" }

  /// Returns the lines of the headers, each with its end, and their names.
  private static func canonical(_ headers: [Pair]) -> (lines: String, names: String) {
    let sorted = headers.map { (lowercased($0.name), trimmed($0.value)) }.sorted { $0.0 < $1.0 }
    return (sorted.map { "\($0):\($1)\n" }.joined(), sorted.map(\.0).joined(separator: ";"))
  }

  private static func lowercased(_ name: String) -> String {
    String(decoding: name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }

  /// Returns a value without white space at its ends, and with one space for several.
  private static func trimmed(_ value: String) -> String {
    value.utf8.split(whereSeparator: { $0 == 0x20 || (0x09...0x0D).contains($0) })
      .map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
  }

  /// `20260301T093000Z`
  private static func stamp(_ time: UTCTime) -> String {
    let digits = time.text.utf8.prefix(19).filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ":") }
    return String(decoding: digits, as: UTF8.self) + "Z"
  }

  private static func day(_ time: UTCTime) -> String { String(stamp(time).prefix(8)) }

  private static func hmac(_ key: [UInt8], _ text: String) -> [UInt8] {
    let message = Array(text.utf8)
    var digest = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    // It fails only without memory. Then no server accepts the signature.
    _ = HMAC(EVP_sha256(), key, Int32(clamping: key.count), message, message.count, &digest, &count)
    return digest
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
