import Media
import PeerEngine
import Testing

@Suite("Numbers of streams")
struct StreamNumberingTests {
  private typealias Track = StreamNumbering.Track

  private func audio(_ index: Int, _ id: String? = nil, isActive: Bool = true) -> Track {
    Track(index: index, mid: "\(index)", kind: .audio, streamID: id, isActive: isActive)
  }

  private func video(_ index: Int, _ id: String? = nil, isActive: Bool = true) -> Track {
    Track(index: index, mid: "\(index)", kind: .video, streamID: id, isActive: isActive)
  }

  @Test("one audio and one video are stream 1, whatever ids they have")
  func single() {
    var numbering = StreamNumbering()
    let numbers = numbering.assign([audio(0, "a"), video(1, "b")])
    #expect(numbers == [1, 1])
  }

  @Test("tracks with one id share a stream, and a second track of a kind is a stream of its own")
  func ids() {
    var numbering = StreamNumbering()
    let numbers = numbering.assign([
      video(0, "screen"), audio(1, "camera"), video(2, "camera"), audio(3, "screen"), video(4, "screen"),
    ])
    #expect(numbers == [1, 2, 2, 1, 3])
  }

  @Test("without ids, the first audio and the first video are stream 1")
  func noIDs() {
    var numbering = StreamNumbering()
    let numbers = numbering.assign([video(0), video(1), video(2), audio(3), audio(4)])
    #expect(numbers == [1, 2, 3, 1, 2])
  }

  @Test("a screen that is shared, stopped and shared again continues stream 2, with another section and id")
  func screenAgain() {
    var numbering = StreamNumbering()
    let camera = [audio(0, "a"), video(1, "a")]
    var numbers = numbering.assign(camera)
    #expect(numbers == [1, 1])
    numbers = numbering.assign(camera + [video(2, "b")])
    #expect(numbers == [1, 1, 2])
    numbers = numbering.assign(camera + [video(2, "b", isActive: false)])
    #expect(numbers == [1, 1, 2])
    numbers = numbering.assign(camera + [video(2, "b", isActive: false), video(3, "c")])
    #expect(numbers == [1, 1, 2, 2])
    // Both sections at once are two screens.
    numbers = numbering.assign(camera + [video(2, "b"), video(3, "c")])
    #expect(numbers == [1, 1, 3, 2])
  }

  @Test("a section that was removed frees its number at once")
  func removed() {
    var numbering = StreamNumbering()
    _ = numbering.assign([audio(0, "a"), video(1, "a"), video(2, "b")])
    _ = numbering.assign([audio(0, "a"), video(1, "a")])
    let numbers = numbering.assign([audio(0, "a"), video(1, "a"), video(3, "c")])
    #expect(numbers == [1, 1, 2])
  }

  @Test("a camera that pauses keeps its place, and a screen meanwhile is another stream")
  func pausedCamera() {
    var numbering = StreamNumbering()
    _ = numbering.assign([audio(0, "a"), video(1, "a")])
    let paused = numbering.assign([audio(0, "a"), video(1, "a", isActive: false), video(2, "b")])
    #expect(paused == [1, 1, 2])
    let back = numbering.assign([audio(0, "a"), video(1, "a"), video(2, "b")])
    #expect(back == [1, 1, 2])
  }

  @Test("a section that begins to name another stream keeps its number")
  func changedID() {
    var numbering = StreamNumbering()
    _ = numbering.assign([audio(0, "a"), video(1, "a"), video(2, "b")])
    let numbers = numbering.assign([audio(0, "x"), video(1, "y"), video(2, "z")])
    #expect(numbers == [1, 1, 2])
  }

  @Test("tracks that were never active have no number, and at most 16 streams have one")
  func limits() {
    var numbering = StreamNumbering()
    let numbers = numbering.assign((0..<20).map { video($0, "\($0)") } + [audio(20, isActive: false)])
    #expect(numbers == (1...16).map { $0 } + [nil, nil, nil, nil, nil])
  }
}
