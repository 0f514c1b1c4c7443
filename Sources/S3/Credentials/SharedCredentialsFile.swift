/// The file of credentials that the programs of Amazon share, `~/.aws/credentials`. Pure.
package enum SharedCredentialsFile {
  /// Returns the credentials of a profile; nil if the file does not have them.
  package static func credentials(of profile: String, in bytes: [UInt8]) -> S3Credentials? {
    var isInside = false
    var values: [String: String] = [:]
    for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
      let text = trimmed(line)
      guard let first = text.first, first != UInt8(ascii: "#"), first != UInt8(ascii: ";") else { continue }
      if first == UInt8(ascii: "[") {
        guard let end = text.firstIndex(of: UInt8(ascii: "]")) else { continue }
        isInside = trimmed(text[(text.startIndex + 1)..<end]).elementsEqual(profile.utf8)
      } else if isInside, let mark = text.firstIndex(of: UInt8(ascii: "=")) {
        guard let value = String(validating: trimmed(text[(mark + 1)...]), as: UTF8.self) else { continue }
        for name in ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"]
        where trimmed(text[..<mark]).elementsEqual(name.utf8) {
          values[name] = value
        }
      }
    }
    guard let id = values["aws_access_key_id"], let secret = values["aws_secret_access_key"] else { return nil }
    return S3Credentials(accessKeyID: id, secretAccessKey: secret, sessionToken: values["aws_session_token"])
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes
    while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
    while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
    return bytes
  }
}
