internal import FoundationEssentials
internal import JSON
internal import Media
internal import ObjectStore

/// Credentials that a server gives for some time.
package enum CredentialsAnswer {
  private static let limits = JSONLimits(bytes: 65_536, values: 100, depth: 4)

  private struct Document: Decodable {
    var accessKeyID: UntrustedText
    var secretAccessKey: UntrustedText
    var token: UntrustedText?
    var expiration: UntrustedText?

    enum CodingKeys: String, CodingKey {
      case accessKeyID = "AccessKeyId"
      case secretAccessKey = "SecretAccessKey"
      case token = "Token"
      case expiration = "Expiration"
    }
  }

  /// Reads the answer of a container's credentials server. Nil if it is none.
  package static func container(_ bytes: [UInt8]) -> S3Credentials? {
    guard let document = try? JSONReader.decode(Document.self, from: Data(bytes), within: limits),
      let id = document.accessKeyID.ascii, let secret = document.secretAccessKey.ascii
    else { return nil }
    return credentials(id, secret, token: document.token?.ascii, expiration: document.expiration?.ascii)
  }

  /// Reads the answer to `AssumeRoleWithWebIdentity`. Nil if it is none.
  package static func webIdentity(_ bytes: [UInt8]) -> S3Credentials? {
    guard let root = try? XMLReader.read(bytes), root.name == "AssumeRoleWithWebIdentityResponse",
      let found = root["AssumeRoleWithWebIdentityResult"]?["Credentials"], let id = found.text(of: "AccessKeyId"),
      let secret = found.text(of: "SecretAccessKey"), let token = found.text(of: "SessionToken")
    else { return nil }
    return credentials(id, secret, token: token, expiration: found.text(of: "Expiration"))
  }

  private static func credentials(_ id: String, _ secret: String, token: String?, expiration: String?) -> S3Credentials?
  {
    var end: UTCTime?
    if let expiration {
      // Some servers write an offset of zero instead of a Z.
      let text = expiration.utf8.count > 6 && expiration.hasSuffix("+00:00") ? expiration.dropLast(6) + "Z" : expiration
      guard let time = UTCTime(text) else { return nil }
      end = time
    }
    return S3Credentials(accessKeyID: id, secretAccessKey: secret, sessionToken: token, expiresAt: end)
  }
}
