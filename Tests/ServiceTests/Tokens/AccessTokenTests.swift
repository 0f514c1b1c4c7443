import Foundation
import Media
import Service
import Testing

@Suite struct AccessTokenTests {
  @Test func `a file of tokens is read and names what is wrong with its line`() throws {
    let digest = SHA256Digest(of: "0123456789012345678901".utf8)
    let list = try AccessTokenList("# a\n\nalice viewer one sha256:\(digest.hexadecimal)\r\n")
    #expect(list.token(withText: "0123456789012345678901")?.name == "alice")
    #expect(list.token(withText: "0123456789012345678902") == nil)
    #expect(list.token(withText: "") == nil)
    for line in [
      "alice viewer one", "alice root one sha256:\(digest.hexadecimal)", "a!b viewer one sha256:\(digest.hexadecimal)",
      "alice viewer one sha256:12", "alice viewer one md5:\(digest.hexadecimal)",
      "alice viewer o/e sha256:\(digest.hexadecimal)",
    ] {
      #expect(throws: AccessTokenList.ParseError.self) { try AccessTokenList("#\n\(line)") }
    }
    do {
      _ = try AccessTokenList("\n\nbad")
    } catch {
      #expect(error.line == 3)
    }
  }

  @Test func `roles include those before them`() {
    #expect(TokenRole.viewer < .operator && TokenRole.operator < .admin)
  }

  @Test func `a changed file is read again, and one that others may read is not used`() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let first = AccessToken.randomText()
    let second = AccessToken.randomText()
    func line(_ name: String, _ text: String) -> String {
      AccessToken(name: name, role: .viewer, project: "p", digest: SHA256Digest(of: text.utf8)).line
    }
    // An editor may leave the last line without an end.
    try PrivateFile.create(path, line("a", first))
    let file = TokenFile(path)
    #expect(file.token(withText: first)?.name == "a")
    try PrivateFile.append(path, line: line("b", second))
    #expect(file.token(withText: second)?.name == "b")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    #expect(file.token(withText: first) == nil)
    #expect(file.problem?.contains("0600") == true)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    #expect(file.token(withText: first)?.name == "a")
    try FileManager.default.removeItem(atPath: path)
    #expect(file.token(withText: first) == nil)
  }

  @Test func `the first start makes a token of an administrator, the second none`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "first-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(try TokenFile.create("\(folder)/tokens", adminTokenFile: "\(folder)/admin.token"))
    #expect(try !TokenFile.create("\(folder)/tokens", adminTokenFile: "\(folder)/admin.token"))
    let text = try String(contentsOfFile: "\(folder)/admin.token", encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    let token = TokenFile("\(folder)/tokens").token(withText: text)
    #expect(token?.role == .admin)
    for name in ["tokens", "admin.token"] {
      #expect(PrivateFile.problem("\(folder)/\(name)") == nil)
    }
  }

  @Test func `ten failures of an address within a minute make it wait`() {
    var limiter = FailureLimiter()
    let start = MonotonicInstant.now
    for second in 0..<10 {
      #expect(limiter.wait("a", now: start + .seconds(second)) == nil)
      limiter.failed("a", now: start + .seconds(second))
    }
    #expect(limiter.wait("a", now: start + .seconds(10)) == .seconds(50))
    #expect(limiter.wait("b", now: start + .seconds(10)) == nil)
    #expect(limiter.wait("a", now: start + .seconds(60)) == nil)
    for index in 0..<(2 * FailureLimiter.maximumAddresses) { limiter.failed("\(index)", now: start) }
    #expect(limiter.wait("a", now: start + .seconds(10)) == nil)
  }

  @Test func `a secret opens only with its key and its context, unchanged`() throws {
    let box = try #require(SecretBox(key: Array(0..<32)))
    let secret = Array("geheim".utf8)
    let sealed = try box.seal(secret, context: "job1")
    #expect(try box.open(sealed, context: "job1") == secret)
    #expect(try box.seal(secret, context: "job1") != sealed)
    #expect(!"\(box)".contains("1, 2") && !String(reflecting: box).contains("1, 2"))
    let other = try #require(SecretBox(key: Array(1..<33)))
    #expect(throws: SecretBox.Failure.notAuthentic) { try other.open(sealed, context: "job1") }
    #expect(throws: SecretBox.Failure.notAuthentic) { try box.open(sealed, context: "job2") }
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1
      #expect(throws: SecretBox.Failure.self) { try box.open(changed, context: "job1") }
      #expect(throws: SecretBox.Failure.self) { try box.open(Array(sealed.prefix(index)), context: "job1") }
    }
    #expect(try box.open(try box.seal([], context: ""), context: "") == [])
    let digest = try box.digest(of: [1, 2], context: "a")
    #expect(try box.digest(of: [1, 2], context: "a") == digest)
    #expect(try box.digest(of: [1, 3], context: "a") != digest)
    #expect(try box.digest(of: [1, 2], context: "b") != digest)
    #expect(try other.digest(of: [1, 2], context: "a") != digest)
  }

  @Test func `the file of the key is made once and must be private`() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "key-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let sealed = try SecretBox.load(path).seal([1], context: "a")
    #expect(try SecretBox.load(path).open(sealed, context: "a") == [1])
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    #expect(throws: SecretBox.Failure.self) { try SecretBox.load(path) }
  }
}
