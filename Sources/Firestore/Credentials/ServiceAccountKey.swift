internal import COpenSSL
package import FoundationEssentials
internal import HTTPTransport
internal import JSON
internal import Media

/// The key of a service account: it signs assertions that are exchanged for access tokens (RFC 7523; Google Identity,
/// "Using OAuth 2.0 for Server to Server Applications").
package struct ServiceAccountKey: Sendable {
  package let email: String
  let tokenURL: HTTPURL
  private let keyID: String?
  private let privateKey: Secret

  /// The permission to read and write a database.
  static let scope = "https://www.googleapis.com/auth/datastore"

  private struct File: Decodable {
    enum CodingKeys: String, CodingKey {
      case type
      case email = "client_email"
      case privateKey = "private_key"
      case keyID = "private_key_id"
      case tokenAddress = "token_uri"
    }

    let type: String
    let email: String
    let privateKey: String
    let keyID: String?
    let tokenAddress: String?
  }

  package init(parsing data: Data, file: String) throws(FirestoreCredentialsError) {
    guard let parsed = try? JSONReader.decode(File.self, from: data, within: .init(values: 256)),
      parsed.type == "service_account"
    else {
      throw FirestoreCredentialsError("The file \(file.printable()) is not the key of a service account in JSON.")
    }
    let address = parsed.tokenAddress ?? "https://oauth2.googleapis.com/token"
    guard let url = try? HTTPURL(address), url.isSecure || ["127.0.0.1", "localhost", "::1"].contains(url.host) else {
      throw FirestoreCredentialsError("The file \(file.printable()) has no secure address in \"token_uri\".")
    }
    email = parsed.email
    tokenURL = url
    keyID = parsed.keyID
    privateKey = Secret(parsed.privateKey)
    guard Self.sign(Data("test".utf8), with: parsed.privateKey) != nil else {
      throw FirestoreCredentialsError("The file \(file.printable()) has no RSA key in \"private_key\".")
    }
  }

  /// A signed assertion that is valid for an hour (RFC 7519, RS256).
  ///
  /// - Parameter time: seconds since 1970.
  package func assertion(time: Int64) -> String? {
    struct Header: Encodable {
      let alg = "RS256"
      let typ = "JWT"
      let kid: String?
    }
    struct Claims: Encodable {
      let iss: String
      let scope: String
      let aud: String
      let iat: Int64
      let exp: Int64
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let claims = Claims(
      iss: email, scope: Self.scope, aud: tokenURL.description, iat: time, exp: time.addingReportingOverflow(3_600).0)
    guard let header = try? encoder.encode(Header(kid: keyID)), let body = try? encoder.encode(claims) else {
      return nil
    }
    let signed = "\(Self.base64URL(header)).\(Self.base64URL(body))"
    guard let signature = Self.sign(Data(signed.utf8), with: privateKey.text) else { return nil }
    return "\(signed).\(Self.base64URL(signature))"
  }

  /// RFC 4648, 5, without padding.
  private static func base64URL(_ data: Data) -> String {
    var text = ""
    for character in data.base64EncodedString() where character != "=" {
      switch character {
      case "+": text.append("-")
      case "/": text.append("_")
      default: text.append(character)
      }
    }
    return text
  }

  /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017, 8.2); nil if the text is not an RSA key in PEM.
  private static func sign(_ data: Data, with pem: String) -> Data? {
    var pem = Array(pem.utf8)
    defer { pem.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) } }
    let key = pem.withUnsafeBytes { bytes -> OpaquePointer? in
      guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
      defer { BIO_free(bio) }
      // A callback that returns no password: OpenSSL must not ask for one on the terminal.
      return PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in 0 }, nil)
    }
    ERR_clear_error()
    guard let key else { return nil }
    defer { EVP_PKEY_free(key) }
    guard EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA, let context = EVP_MD_CTX_new() else { return nil }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1 else { return nil }
    let input = Array(data)
    var count = 0
    guard EVP_DigestSign(context, nil, &count, input, input.count) == 1, (1...8_192).contains(count) else { return nil }
    var signature = [UInt8](repeating: 0, count: count)
    guard EVP_DigestSign(context, &signature, &count, input, input.count) == 1 else { return nil }
    return Data(signature.prefix(count))
  }
}
