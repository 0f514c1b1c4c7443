import Media
import S3
import Testing

@Suite struct UploadPacerTests {
  @Test func allUploadsTogetherKeepToTheRate() {
    let pacer = UploadPacer(bytesPerSecond: 1_000_000)
    var now = MonotonicInstant.now
    let start = now
    for _ in 0..<40 { now = now + pacer.reserve(pacer.pieceSize, now: now) }
    let expected = Duration.seconds(Double(39 * pacer.pieceSize) / 1_000_000)
    #expect(now - start > expected - .milliseconds(1) && now - start < expected + .milliseconds(1))
    // A pause is no credit.
    now = now + .seconds(3_600)
    #expect(pacer.reserve(1_000_000, now: now) == .zero)
    #expect(pacer.reserve(1, now: now) > .milliseconds(999))
    #expect(UploadPacer(bytesPerSecond: 65_536).pieceSize == 8_192)
  }
}
