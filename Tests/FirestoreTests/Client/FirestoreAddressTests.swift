import Firestore
import Testing

@Suite("Firestore addresses")
struct FirestoreAddressTests {
  @Test("an address names a room or a person")
  func valid() throws {
    let room = try FirestoreAddress("firestore://my-project/rooms/Unit%20test?role=guest&create=yes&database=other")
    #expect(room.place == .room("Unit test", role: .guest, isCreated: true))
    #expect(room.database == (try FirestoreDatabase(project: "my-project", database: "other")))
    #expect(room.room == "Unit test")
    #expect(try FirestoreAddress("firestore://p/rooms/1").place == .room("1", role: nil, isCreated: false))
    let person = try FirestoreAddress("FIRESTORE://p/people/tom?peer=jerry")
    #expect(person.place == .person("tom", peer: "jerry", role: .callee))
    #expect(person.room == nil)
  }

  @Test(
    "an address that is not complete or has something else is an error of one sentence",
    arguments: [
      "", "firestore://", "firestore://p", "firestore://p/rooms", "firestore://p/rooms/", "firestore://p/rooms/a/b",
      "http://p/rooms/1", "firestore://p/rooms/1?role=admin", "firestore://p/rooms/1?role=host&role=host",
      "firestore://p/rooms/1?create=maybe", "firestore://p/rooms/1?key=SECRET", "firestore://p/people/tom",
      "firestore://p/people/tom?peer=tom", "firestore://p/people/tom?peer=a%2Fb", "firestore://p/people/tom?peer=%",
      "firestore://p%2Fx/rooms/1", "firestore://p/rooms/%FF", "firestore://p/halls/1", "firestore://p/rooms/1?role",
    ])
  func invalid(text: String) {
    do throws(FirestoreAddress.ParseError) {
      _ = try FirestoreAddress(text)
      Issue.record("It was accepted.")
    } catch {
      #expect(error.description.hasSuffix("."))
      #expect(!error.description.contains("SECRET") || text.isEmpty)
    }
  }
}
