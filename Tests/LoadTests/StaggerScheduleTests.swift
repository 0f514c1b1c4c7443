import Load
import Testing

@Suite("the stagger of publishers with one source")
struct StaggerScheduleTests {
  @Test("a few publishers each have a phase of their own, spread over a second")
  func few() {
    let stagger = StaggerSchedule(publishers: 4, isLive: false)
    #expect((0..<4).map(stagger.phase) == [0, 1, 2, 3])
    #expect((0..<4).map(stagger.delay) == [.zero, .milliseconds(250), .milliseconds(500), .milliseconds(750)])
  }

  @Test("many publishers share the phases evenly")
  func many() {
    let stagger = StaggerSchedule(publishers: 120, isLive: false)
    let sizes = Dictionary(grouping: 0..<120, by: stagger.phase).mapValues(\.count)
    #expect(sizes.count == StaggerSchedule.maximumPhases)
    #expect(Set(sizes.values) == [2, 3])
    #expect(stagger.delay(of: StaggerSchedule.maximumPhases - 1) < StaggerSchedule.span)
  }

  @Test("frames of an encoder are not delayed")
  func live() {
    let stagger = StaggerSchedule(publishers: 120, isLive: true)
    #expect(stagger.phases == 1)
    #expect(stagger.delay(of: stagger.phase(of: 119)) == .zero)
  }

  @Test("lateness has a resolution of 1 ms, and values above a second are still counted")
  func lateness() {
    var lateness = Lateness()
    #expect(lateness.quantile(0.99) == nil)
    for _ in 0..<99 { lateness.add(.microseconds(300)) }
    lateness.add(.seconds(5))
    #expect(lateness.quantile(0.99) == 1)
    #expect(lateness.quantile(1) == 1001)
    lateness.add(.milliseconds(-2))
    #expect(lateness.count == 101)
    var sum = Lateness()
    sum.add(lateness)
    sum.add(lateness)
    #expect(sum.count == 202)
    #expect(sum.quantile(0.98) == 1)
  }
}
