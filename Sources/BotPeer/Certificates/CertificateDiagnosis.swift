internal import COpenSSL
internal import Glibc
internal import Media
internal import TLS

/// The certificate of a server, and whether it is trusted.
public struct CertificateDiagnosis: Sendable, Hashable, Codable {
  /// A distinguished name, for example `CN = turn.example.org`.
  public var subject: String
  /// The name of the authority that signed it.
  public var issuer: String
  /// The end of its validity in UTC (ISO 8601), for example `2027-01-31T12:00:00Z`.
  public var expiry: String
  public var isTrusted: Bool
  /// Why it is not trusted, as a clause.
  public var problem: String?

  /// Verifies the chain that a server has sent (RFC 5280, 6; RFC 9525). The result names the first of the certificates; what
  /// cannot be verified, also a chain that cannot be read, is not trusted and has a problem. Blocks while it reads the file.
  ///
  /// - Parameters:
  ///   - chain: the certificates in DER, the server's own first.
  ///   - host: the name or the address that the certificate must be for.
  ///   - caCertificate: a file with trusted certificates in PEM; nil for those of the system.
  package static func verifying(_ chain: [[UInt8]], host: String, caCertificate: String?) -> CertificateDiagnosis {
    let parsed = chain.compactMap { certificate -> OpaquePointer? in
      certificate.withUnsafeBufferPointer { buffer in
        var position = buffer.baseAddress
        return d2i_X509(nil, &position, buffer.count)
      }
    }
    defer { for certificate in parsed { X509_free(certificate) } }
    guard let first = parsed.first, parsed.count == chain.count else {
      return CertificateDiagnosis(
        subject: "", issuer: "", expiry: "", isTrusted: false,
        problem: "the server sent no certificate that can be read")
    }
    let problem = problem(of: first, in: parsed, host: host, caCertificate: caCertificate)
    return CertificateDiagnosis(
      subject: X509Text.name(X509_get_subject_name(first)), issuer: X509Text.name(X509_get_issuer_name(first)),
      expiry: expiry(of: first), isTrusted: problem == nil, problem: problem)
  }

  private static func problem(
    of own: OpaquePointer, in chain: [OpaquePointer], host: String, caCertificate: String?
  ) -> String? {
    guard let store = X509_STORE_new(), let context = X509_STORE_CTX_new(), let others = OPENSSL_sk_new_null() else {
      return "OpenSSL has no memory"
    }
    defer {
      X509_STORE_CTX_free(context)
      X509_STORE_free(store)
      OPENSSL_sk_free(others)
    }
    for certificate in chain { OPENSSL_sk_push(others, UnsafeRawPointer(certificate)) }
    let isLoaded =
      caCertificate.map { X509_STORE_load_locations(store, $0, nil) == 1 } ?? (X509_STORE_set_default_paths(store) == 1)
    guard isLoaded else { return "the trusted certificates cannot be read" }
    guard X509_STORE_CTX_init(context, store, own, others) == 1, let rules = X509_STORE_CTX_get0_param(context) else {
      return "OpenSSL cannot verify it"
    }
    // The rules of the handshake: see `TLSSession`.
    X509_STORE_CTX_set_default(context, "ssl_server")
    X509_VERIFY_PARAM_set_auth_level(rules, 2)
    X509_VERIFY_PARAM_set_hostflags(rules, TLSSession.nameRules)
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    let isForHost =
      !name.isEmpty && !name.hasPrefix(".")
      && (X509_VERIFY_PARAM_set1_ip_asc(rules, name) == 1
        || X509_VERIFY_PARAM_set1_host(rules, name, name.utf8.count) == 1)
    guard isForHost else { return "its name cannot be compared with \(host.printable())" }
    // Failed attempts leave errors in the queue of the thread.
    ERR_clear_error()
    if X509_verify_cert(context) == 1 { return nil }
    let code = X509_STORE_CTX_get_error(context)
    ERR_clear_error()
    let isOtherHost = code == X509_V_ERR_HOSTNAME_MISMATCH || code == X509_V_ERR_IP_ADDRESS_MISMATCH
    if isOtherHost, X509Text.names(of: own).isEmpty {
      return "it has no subject alternative names, and common names do not count"
    }
    return String(cString: X509_verify_cert_error_string(Int(code)))
  }

  private static func expiry(of certificate: OpaquePointer) -> String {
    var date = tm()
    guard ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &date) == 1 else { return "" }
    return WallClockText.utc(timegm(&date))
  }
}

/// Times of the wall clock as text.
enum WallClockText {
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Returns seconds since 1970 as `2027-01-31T12:00:00Z`.
  static func utc(_ seconds: time_t) -> String {
    var seconds = seconds
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let date = "\(Int(parts.tm_year) + 1_900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
    return "\(date)T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
  }

  /// Parses a date of HTTP, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7), to seconds since 1970; nil for anything
  /// else, also for the obsolete forms.
  static func seconds(ofHTTPDate text: some StringProtocol) -> Int? {
    let words = text.split(separator: " ", maxSplits: 8)
    guard words.count == 6, words[5] == "GMT", let day = Int32(words[1]), (1...31).contains(day),
      let month = months.firstIndex(of: String(words[2])), let year = Int32(words[3]), (1_970...9_999).contains(year)
    else { return nil }
    let time = words[4].split(separator: ":").compactMap { Int32($0) }
    guard time.count == 3, (0...23).contains(time[0]), (0...59).contains(time[1]), (0...60).contains(time[2]) else {
      return nil
    }
    var parts = tm()
    parts.tm_year = year - 1_900
    parts.tm_mon = Int32(month)
    parts.tm_mday = day
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (time[0], time[1], time[2])
    return timegm(&parts)
  }
}
