import SkyRTC
import TLS
import Testing

@Suite("Start of a server with TLS")
struct StartErrorTests {
  private let certificate = "/nowhere/certificate.pem"
  private let key = "/nowhere/key.pem"

  @Test("the file that cannot be used is named")
  func files() {
    #expect(
      SkyRTCServer.StartError(TLSError.unusableCertificate(file: certificate, reason: "no such file")).description
        == "The TLS certificate in /nowhere/certificate.pem cannot be used: no such file or directory.")
    #expect(
      SkyRTCServer.StartError(TLSError.unusableKey(file: key, reason: "no such file")).description
        == "The TLS key in /nowhere/key.pem cannot be used: no such file or directory.")
  }

  @Test("settings that OpenSSL rejects are no fault of the key")
  func settings() {
    #expect(
      SkyRTCServer.StartError(TLSError.notSetUp("no cipher match")).description
        == "The server cannot use TLS: no cipher match.")
  }
}
