import Foundation
import ObjectStore
import S3
import Testing

@Suite struct SignatureV4Tests {
  private struct Header: Decodable {
    var servers: [String]
    var regions: [String]
    var services: [String]
    var credentials: [[String?]]
  }

  private struct Entry: Decodable {
    var m: String
    var e: Int
    var p: String
    var q: [[String]]?
    var h: [[String]]?
    var b: String?
    var t: String
    var r: Int
    var s: Int?
    var c: Int
    var x: Int?
    var u: String
    var n: String
    var a: String
  }

  @Test func requestsOfEveryKindAreSignedAsBotocoreSignsThem() throws {
    let url = try #require(
      Bundle.module.url(forResource: "signatures", withExtension: "ndjson", subdirectory: "Fixtures"))
    let lines = try Data(contentsOf: url).split(separator: UInt8(ascii: "\n"))
    #expect(lines.count == 501)
    let header = try JSONDecoder().decode(Header.self, from: try #require(lines.first))
    for line in lines.dropFirst() {
      let entry = try JSONDecoder().decode(Entry.self, from: line)
      let words = header.credentials[entry.c]
      let credentials = try #require(
        S3Credentials(
          accessKeyID: words[0] ?? "", secretAccessKey: words[1] ?? "", sessionToken: words[2]))
      let signature = SignatureV4(
        credentials, region: header.regions[entry.r], service: header.services[entry.s ?? 0])
      let request = SignatureV4.Request(
        method: entry.m, endpoint: try #require(S3Endpoint(header.servers[entry.e])), path: entry.p,
        query: (entry.q ?? []).map { SignatureV4.Pair($0[0], $0[1]) },
        headers: (entry.h ?? []).map { SignatureV4.Pair($0[0], $0[1]) })
      let time = try #require(UTCTime(entry.t))
      if let seconds = entry.x {
        let link = signature.url(for: request, validFor: seconds, at: time)
        #expect(link.hasSuffix("&X-Amz-Signature=\(entry.a)"), "\(entry)")
        #expect(link.hasPrefix(request.endpoint.description + entry.u + "?"), "\(entry)")
      } else {
        #expect(request.target == entry.u)
        let headers = signature.headers(
          of: request, payload: ObjectDigest.hex(of: Array((entry.b ?? "").utf8)), at: time)
        let authorization = headers.last { $0.name == "authorization" }?.value ?? ""
        #expect(authorization.hasSuffix(", SignedHeaders=\(entry.n), Signature=\(entry.a)"), "\(entry)")
      }
    }
  }

  @Test func credentialsAreInNoDescription() throws {
    let credentials = try #require(
      S3Credentials(accessKeyID: "AKIDNAME", secretAccessKey: "hush-hush", sessionToken: "token-text"))
    var dumped = ""
    dump(credentials, to: &dumped)
    let shown = "\(credentials) \(String(reflecting: credentials)) \(dumped)"
    for secret in ["AKIDNAME", "hush", "token-text"] { #expect(!shown.contains(secret)) }
  }

  @Test func credentialsThatWouldEndAHeaderAreNone() {
    #expect(S3Credentials(accessKeyID: "A", secretAccessKey: "B", sessionToken: "a\r\nhost: b") == nil)
    #expect(S3Credentials(accessKeyID: "", secretAccessKey: "B") == nil)
    #expect(S3Credentials(accessKeyID: "é", secretAccessKey: "B") == nil)
  }
}
