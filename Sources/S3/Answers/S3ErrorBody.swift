internal import Media

/// The body of an answer that reports an error.
package struct S3ErrorBody: Sendable, Hashable {
  /// Such as `NoSuchKey`; ASCII.
  package var code: String
  /// For logs: short and escaped.
  package var message: String
  /// The region in which the bucket is, where the server says so.
  package var region: String?

  /// Nil if it is no error in XML.
  package init?(parsing bytes: [UInt8]) {
    guard let root = try? XMLReader.read(bytes) else { return nil }
    self.init(root)
  }

  package init?(_ root: XMLElement) {
    // Some services put the error into a list of errors.
    let errors = root.name == "Errors" ? root : root["Errors"]
    guard let error = root.name == "Error" ? root : root["Error"] ?? errors?["Error"],
      let code = error.text(of: "Code"), (1...100).contains(code.utf8.count),
      code.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    self.code = code
    message = (error.text(of: "Message") ?? "").printable(utf8Bytes: 300)
    if let region = error.text(of: "Region"), S3Configuration.isRegion(region) { self.region = region }
  }
}
