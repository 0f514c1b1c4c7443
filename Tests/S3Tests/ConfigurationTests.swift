import ObjectStore
import S3
import Testing

@Suite struct ConfigurationTests {
  @Test func aURLNamesABucketAndAPrefix() throws {
    let plain = try S3Configuration(url: "s3://recordings")
    #expect(plain.bucket == "recordings" && plain.prefix == nil)
    let deep = try S3Configuration(url: "s3://re.cord-ings/a/b=c/")
    #expect(deep.bucket == "re.cord-ings" && deep.prefix?.text == "a/b=c")
    #expect(try S3Configuration(url: "s3://recordings/").prefix == nil)
  }

  @Test(arguments: [
    "file:///srv", "s3:recordings", "s3://", "s3://ab", "s3://.abc", "s3://a b c", "s3://user@host", "s3://abc//d",
    "s3://abc/../d",
    "s3://abc/ü", "s3://abc/d?e=f",
  ]) func otherURLsAreRefused(_ url: String) {
    #expect(throws: S3Configuration.Problem.self) { try S3Configuration(url: url) }
  }

  @Test func `A bucket without a name is refused with the whole URL`() {
    let problem = #expect(throws: S3Configuration.Problem.self) { try S3Configuration(url: "s3://") }
    #expect(problem?.description.hasPrefix("The store s3:// names no bucket") == true)
  }

  @Test(arguments: [
    ("https://s3.example", "https://s3.example"), ("HTTP://S3.Example:80/", "http://s3.example"),
    ("http://127.0.0.1:9000", "http://127.0.0.1:9000"), ("https://[fd00::1]:8443/", "https://[fd00::1]:8443"),
    ("https://[::1]", "https://[::1]"),
  ]) func anEndpointIsASchemeAHostAndAPort(_ text: String, _ shown: String) {
    #expect(S3Endpoint(text)?.description == shown)
  }

  @Test(arguments: [
    "s3.example", "ftp://s3.example", "https://", "https:///", "https://a/b", "https://a?b", "https://user@a",
    "https://a:0",
    "https://a:99999", "https://a:b", "https://[::1", "https://a b", "https://a\r\nb", "https://.a", "https://[]:1",
  ]) func otherEndpointsAreRefused(_ text: String) {
    #expect(S3Endpoint(text) == nil)
  }

  @Test func encryptionIsNamedAsInTheProtocol() {
    #expect(S3Configuration.ServerSideEncryption("AES256") == .aes256)
    #expect(S3Configuration.ServerSideEncryption("aws:kms") == .kms(key: nil))
    #expect(
      S3Configuration.ServerSideEncryption("aws:kms:arn:aws:kms:r:1:key/2") == .kms(key: "arn:aws:kms:r:1:key/2"))
    #expect(S3Configuration.ServerSideEncryption("aws:kms:a\r\nb") == nil)
    #expect(S3Configuration.ServerSideEncryption("aes256") == nil)
  }

  @Test func pausesBetweenTriesGrowToAMinute() {
    var backoff = Backoff()
    let longest = (0..<9).map { _ in backoff.delay(random: 0, asked: nil) }
    #expect(longest == [0.5, 1, 2, 4, 8, 16, 32, 60, 60].map { Duration.seconds($0) })
    var other = Backoff()
    #expect(other.delay(random: 1, asked: nil) == .seconds(0.5))
    #expect(other.delay(random: 1, asked: nil) == .seconds(0.5))
    #expect(other.delay(random: 1, asked: nil) == .seconds(1))
    #expect(other.delay(random: 0, asked: .seconds(20)) == .seconds(20))
    #expect(other.delay(random: 0, asked: .seconds(3_600)) == .seconds(60))
  }
}
