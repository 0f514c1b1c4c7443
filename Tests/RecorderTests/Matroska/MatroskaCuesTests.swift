import Recorder
import Testing

@Suite("Matroska cues")
struct MatroskaCuesTests {
  @Test("some ten thousand of a million keyframes are kept, spread over the whole file")
  func bounded() {
    var cues = MatroskaCues()
    for number in 0..<1_000_000 { cues.add(.init(time: Int64(number), cluster: Int64(number) * 100)) }
    #expect((10_000...MatroskaCues.limit).contains(cues.points.count), "\(cues.points.count)")
    let steps = zip(cues.points.dropFirst(), cues.points).map { $0.time - $1.time }
    #expect(steps.allSatisfy { (1...100).contains($0) })
    #expect((cues.points.last?.time ?? 0) > 999_000)
  }

  @Test("a smaller number of keyframes is kept completely")
  func all() {
    var cues = MatroskaCues()
    for number in 0..<1_000 { cues.add(.init(time: Int64(number) * 33, cluster: 0)) }
    #expect(cues.points.count == 1_000)
  }
}
