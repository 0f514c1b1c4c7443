import Testing
import Webhooks

@Suite("Addresses of receivers")
struct AddressTests {
  @Test(arguments: [
    "1.1.1.1", "8.8.8.8", "93.184.215.14", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.0.1.1",
    "198.17.0.1",
    "198.20.0.1", "223.255.255.255", "2606:4700:4700::1111", "2a00:1450:4001::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
    "2002:808:808::1", "2001:4860:4860::8888", "2001:200::1", "2a00::5efe:808:808",
  ])
  func `an address of a public network may be used`(text: String) throws {
    #expect(try #require(IPAddress(text)).isPublic)
  }

  @Test(arguments: [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.8.9.10",
    "169.254.169.254",
    "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.1.2.3", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
    "::ffff:0:10.0.0.1",
    "64:ff9b::10.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b:1::8.8.8.8", "100::1", "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:2::1", "2001:10::1", "2001:20::1", "2001:1ff::1", "2001:db8::1", "2002:7f00:1::1", "2002:a00:1::1",
    "2002:c0a8:101::1",
    "3fff::1", "5f00::1", "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1", "2a00::5efe:a00:1",
    "2a00::200:5efe:c0a8:1",
  ])
  func `an address of special use may not be used`(text: String) throws {
    #expect(try !#require(IPAddress(text)).isPublic)
  }

  @Test(arguments: [
    "", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "0x7f.1", "2130706433", ":::", "fe80::1%eth0", "[::1]", "a",
  ])
  func `a text that is no address is none`(text: String) { #expect(IPAddress(text) == nil) }

  @Test(arguments: [
    ("https://hooks.example/a?b=c", "hooks.example", 443), ("HTTPS://Hooks.Example:8443", "hooks.example", 8_443),
    ("https://[2606:4700:4700::1111]/", "2606:4700:4700::1111", 443), ("https://1.1.1.1:1/", "1.1.1.1", 1),
  ])
  func `the host and the port of a URL are found`(text: String, host: String, port: Int) throws {
    let url = try WebhookURL(text, allowsPrivate: false)
    #expect(url.host == host)
    #expect(url.port == port)
    #expect(url.text == text)
    #expect(url.isSecure)
    let allowed = try WebhookURL(text, allowsPrivate: true)
    #expect(allowed == url)
  }

  @Test(arguments: [
    "", "hooks.example", "ftp://hooks.example", "http://hooks.example", "https://", "https:///a",
    "https://user@hooks.example/",
    "https://user:pass@hooks.example/", "https://hooks.example/#a", "https://hooks.example:0/",
    "https://hooks.example:65536/",
    "https://hooks.example:/", "https://hooks.example:+1/", "https://hooks.example\\@localhost/",
    "https://hooks.example/ a",
    "https://hooks.example/\n", "https://höoks.example/", "https://hooks.example./", "https://%6cocalhost/",
    "https://[::1/",
    "https://[hooks.example]/", "https://[1.1.1.1]/", "https://a[b]c.example/",
    "https://localhost/", "https://printer/", "https://a.localhost/", "https://a.local/", "https://db.internal/",
    "https://127.0.0.1/",
    "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://[64:ff9b::a00:1]/", "https://10.0.0.1/",
    "https://169.254.169.254/latest",
    "https://router.home.arpa/",
  ])
  func `a URL that is broken, plain or private is refused`(text: String) {
    #expect(throws: WebhookURL.Problem.self) { try WebhookURL(text, allowsPrivate: false) }
  }

  @Test func `private and plain receivers may be allowed, broken ones not`() throws {
    #expect(try WebhookURL("http://localhost:8000/a", allowsPrivate: true).port == 8_000)
    #expect(try WebhookURL("http://[::1]:1/", allowsPrivate: true).origin == "http://[::1]:1")
    #expect(try WebhookURL("https://127.0.0.1/", allowsPrivate: true).origin == "https://127.0.0.1:443")
    #expect(throws: WebhookURL.Problem.self) { try WebhookURL("https://user@localhost/", allowsPrivate: true) }
    let long = "https://hooks.example/" + String(repeating: "a", count: 2_048)
    #expect(throws: WebhookURL.Problem.self) { try WebhookURL(long, allowsPrivate: true) }
  }
}
